// The formulas of strips' operators and the order of their row sums: the same for vectors of every instruction set and
// for threads of a GPU, so that all give the same bits. Products and sums are rounded one by one: not every instruction
// set can fuse them.
//
// Included without guard, inside the namespace of each of them (strip_math_inl.h, strip_device.cuh), which defines
// HOPSCOPE_FORMULA, the specifiers of a function. `A` does the arithmetic, on values of type A::V (a vector or a number),
// A::Number its element.

template <class A>
HOPSCOPE_FORMULA typename A::V formulaSet(double value)
{
    return A::set(static_cast<typename A::Number>(value));
}

// A polynomial; coefficients from the highest degree on.
template <class A, int n>
HOPSCOPE_FORMULA typename A::V formulaSeries(typename A::V x, const double (&coefficients)[n])
{
    typename A::V sum = formulaSet<A>(coefficients[0]);
    for (int k = 1; k < n; ++k) sum = A::add(A::mul(sum, x), formulaSet<A>(coefficients[k]));
    return sum;
}

// x = whole * ln 2 + rest. The last bits of `shifted` are the whole number.
template <class A>
struct FormulaExponent {
    typename A::V shifted, less;  // less: exp(rest) - 1
};

// |x| must be so small that the whole number has at most 11 bits.
template <class A>
HOPSCOPE_FORMULA FormulaExponent<A> formulaExponent(typename A::V x)
{
    constexpr bool single = sizeof(typename A::Number) == 4;
    const auto magic = formulaSet<A>(single ? 12582912.0 : 6755399441055744.0);  // 1.5 * 2^23 and 2^52
    const auto shifted = A::add(A::mul(x, formulaSet<A>(1.442695040888963407359924681)), magic);
    const auto whole = A::sub(shifted, magic);
    const auto near = formulaSet<A>(single ? -0.693145751953125 : -0.6931471805596629565116018);
    const auto far = formulaSet<A>(single ? -1.428606765330187045e-6 : -0.28235290563031577122588448175e-12);
    const auto rest = A::add(A::add(x, A::mul(whole, near)), A::mul(whole, far));
    const auto square = A::mul(rest, rest);
    if constexpr (single) {
        const double series[] = {0.000198527617612853646278381, 0.00139304355252534151077271,
                                 0.00833336077630519866943359,  0.0416664853692054748535156,
                                 0.166666671633720397949219,    0.5};
        return {shifted, A::add(A::mul(formulaSeries<A>(rest, series), square), rest)};
    } else {
        const double series[] = {2.08860621107283687536341e-9,
                                 2.51112930892876518610661e-8,
                                 2.75573911234900471893338e-7,
                                 2.75572362911928827629423e-6,
                                 2.4801587159235272998791e-5,
                                 0.000198412698960509205564975,
                                 0.00138888888889774492207962,
                                 0.00833333333331652721664984,
                                 0.0416666666666665047591422,
                                 0.166666666666666851703837,
                                 0.5};
        return {shifted, A::add(A::mul(formulaSeries<A>(rest, series), square), rest)};
    }
}

// Below this, exp(x) is 0.
template <class A>
HOPSCOPE_FORMULA typename A::V formulaLeast()
{
    return formulaSet<A>(sizeof(typename A::Number) == 4 ? -104.0 : -746.0);
}

// exp(x) for x between formulaLeast() and the greatest that has a finite result. `raise` and `lower` are inverse powers
// of two: results below the normal numbers are made from larger ones, so that they are rounded once.
template <class A>
HOPSCOPE_FORMULA typename A::V formulaPower(typename A::V x, typename A::V raise, typename A::V lower)
{
    const FormulaExponent<A> e = formulaExponent<A>(x);
    const auto raised = A::mul(A::add(e.less, formulaSet<A>(1)), raise);
    constexpr int mantissa = sizeof(typename A::Number) == 4 ? 23 : 52;
    return A::mul(A::plusBits(raised, A::template shiftLeft<mantissa>(e.shifted)), lower);
}

template <class A>
HOPSCOPE_FORMULA typename A::V formulaRaise()
{
    return formulaSet<A>(sizeof(typename A::Number) == 4 ? 0x1p64 : 0x1p128);
}

template <class A>
HOPSCOPE_FORMULA typename A::V formulaLower()
{
    return formulaSet<A>(sizeof(typename A::Number) == 4 ? 0x1p-64 : 0x1p-128);
}

template <class A>
HOPSCOPE_FORMULA typename A::V formulaExp(typename A::V x)
{
    const auto most = formulaSet<A>(sizeof(typename A::Number) == 4 ? 88.72283172607421875 : 709.78271289338397);
    const auto inside = A::max(A::min(x, most), formulaLeast<A>());
    const auto small = A::less(inside, formulaSet<A>(0));
    const auto one = formulaSet<A>(1);
    const auto value =
        formulaPower<A>(inside, A::select(small, formulaRaise<A>(), one), A::select(small, formulaLower<A>(), one));
    return A::select(A::lessOrEqual(x, most), value, A::add(x, A::infinity()));  // NaN stays
}

template <class A>
HOPSCOPE_FORMULA typename A::V formulaSigmoid(typename A::V x)
{
    const auto one = formulaSet<A>(1);
    return A::div(one, A::add(one, formulaExp<A>(A::neg(x))));
}

template <class A>
HOPSCOPE_FORMULA typename A::V formulaSilu(typename A::V x)
{
    return A::div(x, A::add(formulaSet<A>(1), formulaExp<A>(A::neg(x))));
}

// (exp(2|x|) - 1) / (exp(2|x|) + 1) with the sign of x; 1 in every type from 20 on.
template <class A>
HOPSCOPE_FORMULA typename A::V formulaTanh(typename A::V x)
{
    constexpr int mantissa = sizeof(typename A::Number) == 4 ? 23 : 52;
    const auto one = formulaSet<A>(1);
    const auto twice = A::mul(A::min(A::abs(x), formulaSet<A>(20)), formulaSet<A>(2));
    const FormulaExponent<A> e = formulaExponent<A>(twice);
    const auto power = A::plusBits(A::add(e.less, one), A::template shiftLeft<mantissa>(e.shifted));
    const auto less = A::select(A::less(twice, formulaSet<A>(0.346573590279972654708616)), e.less, A::sub(power, one));
    const auto value = A::withSign(A::div(less, A::add(less, formulaSet<A>(2))), x);
    return A::select(A::isNaN(x), x, value);
}

// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)); x itself beyond the threshold. The logarithm of 1 + u is twice the
// inverse hyperbolic tangent of u / (2 + u), which is at most 1/3.
template <class A>
HOPSCOPE_FORMULA typename A::V formulaSoftplus(typename A::V x)
{
    constexpr int terms = sizeof(typename A::Number) == 4 ? 6 : 15;
    double series[terms + 1];
    for (int k = 0; k <= terms; ++k) series[k] = 2.0 / (2 * (terms - k) + 1);
    const auto negative = A::max(A::neg(A::abs(x)), formulaLeast<A>());
    const auto power = formulaPower<A>(negative, formulaRaise<A>(), formulaLower<A>());
    const auto z = A::div(power, A::add(power, formulaSet<A>(2)));
    const auto log = A::mul(formulaSeries<A>(A::mul(z, z), series), z);
    const auto value = A::add(A::max(x, formulaSet<A>(0)), log);
    return A::select(A::lessOrEqual(x, formulaSet<A>(20)), value, x);  // NaN stays
}
