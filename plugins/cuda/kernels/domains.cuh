// SPDX-License-Identifier: Apache-2.0
//
// Makes `case` labels of plugin/scalar_ops.def for one type. Before inclusion: BPC_TYPE is the type's suffix
// and BPC_KIND one of the kinds below. BPC_CASES_SAME and BPC_CASES_TRUTH say what is done for operations
// with a result of the argument type and with a condition: BPC_CASE_SAME(number, name, arity),
// BPC_CASE_TRUTH(number, name, arity).
#define BPC_KIND_BOOL 0
#define BPC_KIND_INTEGER 1
#define BPC_KIND_FLOATING 2

#undef BPC_DOMAIN_Any
#undef BPC_DOMAIN_Number
#undef BPC_DOMAIN_Integer
#undef BPC_DOMAIN_Floating
#undef BPC_DOMAIN_Logical
#define BPC_DOMAIN_Any(x) x
#if BPC_KIND == BPC_KIND_BOOL
#define BPC_DOMAIN_Number(x)
#define BPC_DOMAIN_Integer(x) x
#define BPC_DOMAIN_Floating(x)
#define BPC_DOMAIN_Logical(x) x
#elif BPC_KIND == BPC_KIND_INTEGER
#define BPC_DOMAIN_Number(x) x
#define BPC_DOMAIN_Integer(x) x
#define BPC_DOMAIN_Floating(x)
#define BPC_DOMAIN_Logical(x)
#else
#define BPC_DOMAIN_Number(x) x
#define BPC_DOMAIN_Integer(x)
#define BPC_DOMAIN_Floating(x) x
#define BPC_DOMAIN_Logical(x)
#endif

#ifndef BPC_PASTE
#define BPC_PASTE3_(a, b, c) a##b##c
#define BPC_PASTE(a, b, c) BPC_PASTE3_(a, b, c)
// The formula of an operation for the type at hand.
#define BPC_FORMULA(name) BPC_PASTE(bp_##name, _, BPC_TYPE)
#define BPC_ARGUMENTS_1(a, b, c) (a)
#define BPC_ARGUMENTS_2(a, b, c) (a, b)
#define BPC_ARGUMENTS_3(a, b, c) (a, b, c)
#endif
