/* Names: what a word in a text stands for, how a variable is written, and messages for unknown
 * words.
 *
 * A word means, in this order: a function, a column name, a variable x1, x2, ..., a free constant
 * c1, c2, ..., pi or e. Whatever names the columns have, x<n>, c<n>, pi and e stay reachable:
 * underscores before them, as many as it takes, change nothing but the spelling. */
#include "expr/text_impl.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- functions ----------------- */

#define X(id, name, operands, commutes) [SL_OP_##id] = (operands) == 1 ? name : NULL,
static const char *const function_name[SL_FUNCTION_NONE] = {
    SL_NODES(X)[SL_FUNCTION_SQRT] = "sqrt", [SL_FUNCTION_NEG] = "neg",
    [SL_FUNCTION_LOG10] = "log10",          [SL_FUNCTION_LOG2] = "log2",
    [SL_FUNCTION_LOG1P] = "log1p",          [SL_FUNCTION_EXPM1] = "expm1",
};
#undef X

/* Other names for some of them. */
static const struct {
    const char *name;
    sl_op op;
} alias[] = {
    { "ln", SL_OP_LOG },      { "arcsin", SL_OP_ASIN }, { "arccos", SL_OP_ACOS },
    { "arctan", SL_OP_ATAN }, { "fabs", SL_OP_ABS },    { "Abs", SL_OP_ABS },
};

sl_function sl_expr__text_function(const char *name) {
    int f = 0;
    for (int i = 0; i < SL_LEN(alias); i++)
        if (strcmp(alias[i].name, name) == 0) return (sl_function)alias[i].op;
    while (f < SL_FUNCTION_NONE && !(function_name[f] && strcmp(function_name[f], name) == 0)) f++;
    return (sl_function)f;
}

const char *sl_expr__text_function_name(sl_op op, sl_format format) {
    if (op == SL_OP_ABS && format == SL_FORMAT_C) return "fabs";
    if (op == SL_OP_ABS && format == SL_FORMAT_SYMPY) return "Abs";
    if (op == SL_OP_LOG && format == SL_FORMAT_EXCEL) return "ln";
    if (format == SL_FORMAT_LATEX || format == SL_FORMAT_MATHML || format == SL_FORMAT_NUMPY) {
        if (op == SL_OP_ASIN) return "arcsin";
        if (op == SL_OP_ACOS) return "arccos";
        if (op == SL_OP_ATAN) return "arctan";
    }
    return function_name[op];
}

/* ---------------------------------------------------------------- exact constants ----------- */

sl_constant sl_expr__text_exact(const char *name) {
    while (*name == '_') name++;
    if (strcmp(name, "pi") == 0 || strcmp(name, "M_PI") == 0) return SL_CONSTANT_PI;
    return strcmp(name, "e") == 0 || strcmp(name, "M_E") == 0 ? SL_CONSTANT_E : SL_CONSTANT_NONE;
}

/* Words that cannot be the plain name of a column, because the infix parser takes them otherwise.
 */
static bool is_reserved(const char *name) {
    return sl_expr__text_function(name) != SL_FUNCTION_NONE || strcmp(name, "pow") == 0 ||
           strcmp(name, "Rational") == 0 || strcmp(name, "Integer") == 0;
}

/* ---------------------------------------------------------------- variables ----------------- */

bool sl_expr__text_is_identifier(const char *name) {
    if (!*name || (*name >= '0' && *name <= '9')) return false;
    for (const char *c = name; *c; c++) {
        bool fine = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                    (*c >= '0' && *c <= '9') || *c == '_';
        if (!fine) return false;
    }
    return true;
}

/* The number behind `letter`, 1..max without leading zeros, or 0. */
static int numbered(const char *name, char letter, int max) {
    while (*name == '_') name++;
    if (*name++ != letter || *name == '0') return 0;
    int n = 0;
    for (; *name >= '0' && *name <= '9'; name++) {
        n = 10 * n + (*name - '0');
        if (n > max) return 0;
    }
    return *name ? 0 : n;
}

static int variables(const sl_names *names) {
    return names && names->count ? SL_MIN(names->count, SL_EXPR_MAX_VARS) : SL_EXPR_MAX_VARS;
}

static int find_column(const sl_names *names, const char *name) {
    if (!names || !names->names || !*name) return 0;
    for (int i = 0; i < variables(names); i++)
        if (i < names->count && names->names[i] && strcmp(names->names[i], name) == 0) return i + 1;
    return 0;
}

int sl_expr__text_variable(const sl_names *names, const char *name) {
    int column = find_column(names, name);
    return column ? column : numbered(name, 'x', variables(names));
}

int sl_expr__text_constant(const char *name) { return numbered(name, 'c', UINT16_MAX); }

const char *sl_expr__text_column_name(const sl_names *names, int number) {
    if (!names || !names->names || number > names->count) return NULL;
    const char *name = names->names[number - 1];
    return name && find_column(names, name) == number ? name
                                                      : NULL; // of equal names the first is meant
}

int sl_expr__text_underscores(const sl_names *names, char letter, int number) {
    char spelled[96];
    int n = 0;
    if (!names || !names->names) return 0;
    // each round rules out a column name, of which there are at most SL_EXPR_MAX_VARS
    for (;; n++) {
        sl_snprintf(spelled, sizeof spelled, "%.*s%c%d", n,
                    "________________________________________________________________", letter,
                    number);
        int taken = find_column(names, spelled);
        if (!taken || (letter == 'x' && taken == number)) return n;
    }
}

/* Reserved words of Python, C and Julia, and the name of a module. */
static bool is_code_word(const char *name) {
    static const char *const words[] = {
        "and",     "as",       "assert",   "async",  "auto",  "await",   "baremodule", "begin",
        "break",   "case",     "catch",    "char",   "class", "const",   "continue",   "def",
        "default", "del",      "do",       "double", "elif",  "else",    "elseif",     "end",
        "enum",    "except",   "export",   "extern", "false", "False",   "finally",    "float",
        "for",     "from",     "function", "global", "goto",  "if",      "import",     "in",
        "inline",  "int",      "is",       "lambda", "let",   "local",   "long",       "macro",
        "module",  "None",     "nonlocal", "not",    "np",    "or",      "pass",       "quote",
        "raise",   "register", "restrict", "return", "short", "signed",  "sizeof",     "static",
        "struct",  "switch",   "True",     "true",   "try",   "typedef", "union",      "unsigned",
        "using",   "void",     "volatile", "where",  "while", "with",    "yield",
    };
    for (int i = 0; i < SL_LEN(words); i++)
        if (strcmp(words[i], name) == 0) return true;
    return false;
}

/* The letters of column n: A, B, ..., Z, AA, AB, ... */
static void put_letters(sl_str *s, int n) {
    if (n > 26) put_letters(s, (n - 1) / 26);
    sl_str_add_char(s, (char)('A' + (n - 1) % 26));
}

/* A variable is a cell of row 2. c1 would be a cell too, so a free constant is the name _c1. */
static void put_cell_name(sl_str *s, const sl_node *e) {
    if (e->op == SL_OP_VAR)
        put_letters(s, e->arg);
    else
        sl_str_add(s, "_c");
    sl_str_add_uint(s, e->op == SL_OP_VAR ? 2 : e->arg);
}

void sl_expr__text_print_name(sl_str *s, sl_format format, const sl_node *e,
                              const sl_names *names) {
    const char *name = e->op == SL_OP_VAR ? sl_expr__text_column_name(names, e->arg) : NULL;
    const bool plain = name && sl_expr__text_is_identifier(name) && !is_reserved(name);
    const bool code = format == SL_FORMAT_PYTHON || format == SL_FORMAT_C ||
                      format == SL_FORMAT_NUMPY || format == SL_FORMAT_JULIA;
    if (format == SL_FORMAT_EXCEL) {
        put_cell_name(s, e);
        return;
    }
    if (!name || format == SL_FORMAT_SYMPY || (code && (!plain || is_code_word(name)))) {
        char letter = e->op == SL_OP_VAR ? 'x' : 'c';
        for (int i = sl_expr__text_underscores(names, letter, e->arg); i > 0; i--)
            sl_str_add_char(s, '_');
        sl_str_add_char(s, letter);
        sl_str_add_uint(s, e->arg);
        return;
    }
    if (plain) {
        sl_str_add(s, name);
        return;
    }
    sl_str_add_char(s, '`');
    for (; *name; name++) {
        if (*name == '`') sl_str_add_char(s, '`');
        sl_str_add_char(s, *name);
    }
    sl_str_add_char(s, '`');
}

int sl_expr__text_spell_pi(char spelled[SL_TEXT_PI], sl_format format, const sl_names *names) {
    const char *plain = format == SL_FORMAT_C ? "M_PI" : "pi";
    for (int n = 0;; n++) { // each round rules out a column name
        memset(spelled, '_', (size_t)n);
        memcpy(spelled + n, plain, strlen(plain) + 1);
        if (!find_column(names, spelled)) return n;
    }
}

void sl_expr__text_print_pi(sl_str *s, sl_format format, const sl_names *names) {
    char spelled[SL_TEXT_PI];
    const int n = sl_expr__text_spell_pi(spelled, format, names);
    // in programming languages the name with underscores is not defined
    const char *module = format == SL_FORMAT_PYTHON  ? "math."
                         : format == SL_FORMAT_SYMPY ? "sympy."
                         : format == SL_FORMAT_NUMPY ? "np."
                         : format == SL_FORMAT_JULIA ? "Base."
                                                     : NULL;
    if (format == SL_FORMAT_EXCEL) {
        sl_str_add(s, "PI()");
        return;
    }
    const bool of_module = module && (n || format == SL_FORMAT_NUMPY);
    if (of_module) sl_str_add(s, module);
    sl_str_add(s, of_module ? "pi" : spelled);
}

/* ---------------------------------------------------------------- explanations -------------- */

/* Appends to a text of fixed size; what does not fit is cut. */
SL_PRINTF(3, 4) static void append(char *text, size_t size, const char *format, ...) {
    size_t len = strlen(text);
    va_list args;
    va_start(args, format);
    sl_vsnprintf(text + len, size - len, format, args);
    va_end(args);
}

static void append_variables(char *text, size_t size, const sl_names *names) {
    if (!names || !names->count) {
        append(text, size, "x1 to x%d", SL_EXPR_MAX_VARS);
        return;
    }
    for (int i = 1; i <= variables(names); i++) {
        char quote[SL_TEXT_QUOTE];
        const char *column = sl_expr__text_column_name(names, i);
        if (column)
            sl_expr__text_quote(quote, column, strlen(column));
        else
            sl_snprintf(quote, sizeof quote, "x%d", i);
        if (strlen(text) + strlen(quote) + 8 > size) {
            append(text, size, ", ...");
            return;
        }
        append(text, size, "%s%s", i > 1 ? ", " : "", quote);
    }
}

static void append_operators(char *text, size_t size) {
    for (int f = 0; f < SL_FUNCTION_NONE; f++)
        if (f <= SL_FUNCTION_SQRT && function_name[f]) append(text, size, "%s, ", function_name[f]);
    append(text, size, "+ - * / ^");
}

/* Common functions and constants that are not supported. */
static bool is_foreign(const char *name) {
    static const char *const foreign[] = {
        "acosh", "asinh", "atan2", "atanh", "cbrt", "ceil", "cot", "csc",  "erf",
        "floor", "gamma", "hypot", "max",   "min",  "mod",  "sec", "sign",
    };
    for (int i = 0; i < SL_LEN(foreign); i++)
        if (strcmp(foreign[i], name) == 0) return true;
    return false;
}

typedef struct nearest {
    const char *word;
    int distance;
} nearest;

static void consider(nearest *best, const char *name, const char *word) {
    int d = sl_edit_distance(name, word);
    if (d < best->distance) *best = (nearest){ word, d };
}

void sl_expr__text_explain(char *reason, size_t size, const sl_names *names, const char *name) {
    char quote[SL_TEXT_QUOTE], near[SL_TEXT_QUOTE], x[8] = "x1";
    sl_expr__text_quote(quote, name, strlen(name));
    const char *digits = name + 1;
    size_t n_digits = *name ? strspn(digits, "0123456789") : 0;
    bool is_numbered = n_digits > 0 && !digits[n_digits];
    reason[0] = '\0';
    if (*name == 'x' && is_numbered) {
        append(reason, size, "there is no %s: ", quote);
        append(reason, size, names && names->count ? "this has variables " : "variables are ");
        append_variables(reason, size, names);
        return;
    }
    if (*name == 'c' && is_numbered) {
        append(reason, size, "there is no %s: free constants are c1 to c%d", quote, UINT16_MAX);
        return;
    }
    if (strcmp(name, "E") == 0) {
        append(reason, size,
               "E is Euler's number only as the base of a power, as in E^(x1); "
               "the number itself is e or exp(1)");
        return;
    }
    if (is_foreign(name)) {
        append(reason, size, "%s is not among the operators ", name);
        append_operators(reason, size);
        return;
    }
    // with more than a third of its letters wrong a word is no misspelling
    nearest best = { NULL, 1 + (int)SL_MIN((strlen(name) + 2) / 3, (size_t)3) };
    for (int f = 0; f < SL_FUNCTION_NONE; f++)
        if (function_name[f]) consider(&best, name, function_name[f]);
    for (int i = 1; i <= variables(names); i++) {
        const char *column = sl_expr__text_column_name(names, i);
        if (column) consider(&best, name, column);
    }
    if (best.word || strcmp(name, "x") == 0) {
        const char *word = best.word ? best.word : x;
        append(reason, size, "unknown name \"%s\"; did you mean %s?", quote,
               sl_expr__text_quote(near, word, strlen(word)));
        return;
    }
    append(reason, size, "unknown name \"%s\"; variables are ", quote);
    append_variables(reason, size, names);
}
