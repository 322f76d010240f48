#include "tables.h"

static sl_laws_table read_text(sl_fixture *t, const char *name, const char *text, const char *map) {
    sl_laws_table table;
    SL_MUST(t, sl_laws_table_read(&table, &t->arena, file_of(t, name, text), map));
    return table;
}

static void usual_names_are_found(void **state) {
    sl_fixture *t = *state;
    static const char *const heads[] = {
        "N,D,C,L,lr,bs",
        "params,tokens,flops,val_loss,learning_rate,batch_size",
        "Num-Params,Train Tokens,Total_FLOPs,Validation_Loss,rate,batch",
        "parameters;training_tokens;compute;loss;lr;bs",
    };
    for (int k = 0; k < SL_LEN(heads); k++) {
        sl_str s = { 0 };
        const char *row = strchr(heads[k], ';') ? "5;7;210;1.5;0.1;8" : "5,7,210,1.5,0.1,8";
        sl_str_addf(&s, "%s\n%s\n", heads[k], row);
        const sl_laws_table table = read_text(t, "names.csv", s.text, NULL);
        sl_str_clear(&s);
        const sl_laws_run *r = &table.run[0];
        SL_CHECK(t,
                 table.n == 1 && r->params == 5 && r->tokens == 7 && r->flops == 210 &&
                     r->loss == 1.5 && r->rate == 0.1 && r->batch == 8,
                 "%s: %g %g %g %g %g %g", heads[k], r->params, r->tokens, r->flops, r->loss,
                 r->rate, r->batch);
        SL_CHECK(t, isnan(r->solved) && !*r->id && !table.has[SL_LAWS_COLUMN_solved], "%s",
                 heads[k]);
    }
}

/* Of two names that mean the same the more precise one is taken, and a note says so. */
static void the_more_precise_name_is_taken(void **state) {
    sl_fixture *t = *state;
    const sl_laws_table a = read_text(t, "two.csv", "C,loss,val_loss\n1,2,3\n", NULL);
    const sl_laws_table b = read_text(t, "two2.csv", "C,val_loss,loss\n1,3,2\n", NULL);
    SL_CHECK(t, a.run[0].loss == 3 && b.run[0].loss == 3, "%g %g", a.run[0].loss, b.run[0].loss);
    SL_CHECK(t, a.n_note == 1 && b.n_note == 1 && strstr(a.note[0], "\"val_loss\" is taken"), "%d",
             a.n_note);
    const sl_laws_table c = read_text(t, "two.csv", "C,loss,val_loss\n1,2,3\n", "loss=loss");
    SL_CHECK(t, c.run[0].loss == 2, "a named column: %g", c.run[0].loss);
}

static void json_lines_are_the_same_table(void **state) {
    sl_fixture *t = *state;
    const sl_laws_table a = read_text(t, "a.csv",
                                      "run,model,N,tokens_per_param,C,val_loss,hits,trials,seed\n"
                                      "r1,6.5M,500,2,3e6,1.5,3,4,1\nr2,9M,600,2,4e6,NaN,,4,\n",
                                      NULL);
    const sl_laws_table b =
        read_text(t, "b.jsonl",
                  "{\"run\":\"r1\",\"model\":\"6.5M\",\"N\":500,\"tokens_per_param\":2,\"C\":3e6,"
                  "\"val_loss\":1.5,\"hits\":3,\"trials\":4,\"seed\":1}\n\n"
                  "{\"model\":\"9M\",\"run\":\"r2\",\"N\":600,\"tokens_per_param\":2.0,\"C\":4e6,"
                  "\"val_loss\":null,\"trials\":4}\n",
                  NULL);
    sl_str sa = { 0 }, sb = { 0 };
    sl_laws_table_csv(&sa, &a);
    sl_laws_table_csv(&sb, &b);
    SL_CHECK(t, strcmp(sa.text, sb.text) == 0, "%s%s", sa.text, sb.text);
    SL_CHECK(t, a.run[0].solved == 0.75 && a.run[0].tokens == 1000 && a.n_note == 1, "%s", sa.text);
    SL_CHECK(t, strstr(a.note[0], "ratio x parameters"), "%s", a.note[0]);
    sl_str_clear(&sa);
    sl_str_clear(&sb);
}

/* A table written as CSV reads back to the last bit. */
static void a_written_table_reads_back(void **state) {
    sl_fixture *t = *state;
    sl_laws_simulation law = SL_LAWS_SIMULATION_INIT;
    sl_laws_table made, again;
    law.seeds = 2;
    SL_MUST(t, sl_laws_simulate(&made, &t->arena, &law, 3));
    made.run[0].id = "with,comma \"and quotes\"";
    sl_str s = { 0 };
    sl_laws_table_csv(&s, &made);
    again = read_text(t, "again.csv", s.text, NULL);
    sl_str_clear(&s);
    SL_CHECK(t, again.n == made.n && again.n_note == 0, "%d of %d", again.n, made.n);
    for (int i = 0; i < made.n; i++) {
#define SAME_T(field) (strcmp(made.run[i].field, again.run[i].field) == 0)
#define SAME_R(field)                           \
    (made.run[i].field == again.run[i].field || \
     (isnan(made.run[i].field) && isnan(again.run[i].field)))
#define X(field, kind, ...) SL_CHECK(t, SAME_##kind(field), "row %d: " #field, i);
        SL_LAWS_COLUMNS(X)
#undef X
    }
    SL_CHECK(t, memcmp(made.has, again.has, sizeof made.has) == 0, "columns");
}

static void flops_may_be_derived(void **state) {
    sl_fixture *t = *state;
    const sl_laws_table a = read_text(t, "d.csv", "N,D,loss\n100,20,1\n", NULL);
    SL_CHECK(t, a.run[0].flops == 12000 && a.has[SL_LAWS_COLUMN_flops], "%g", a.run[0].flops);
    SL_CHECK(t, a.n_note == 1 && strstr(a.note[0], "6 x parameters x tokens"), "no note");
    const sl_laws_table b = read_text(t, "e.csv", "N,loss\n10,1\n", NULL);
    SL_CHECK(t, isnan(b.run[0].flops) && !b.has[SL_LAWS_COLUMN_flops], "%g", b.run[0].flops);
}

/* File, line or row, column, value, what it must be. */
static void mistakes_are_named(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *map;
        sl_status st;
        const char *says;
    } bad[] = {
        { "N,C,loss\n1,2,3\n1,x,3\n", NULL, SL_EFORMAT, "line 3: C is \"x\", not a number" },
        { "N,C,loss\n1,inf,3\n", NULL, SL_EFORMAT, "line 2: C is \"inf\"" },
        { "N,C,loss\n1,2,-3\n", NULL, SL_EFORMAT, "row 1: loss is -3; it must be above 0" },
        { "C,loss\n0,3\n", NULL, SL_EFORMAT, "row 1: C is 0; it must be above 0" },
        { "C,loss\n1e300,3\n", NULL, SL_EFORMAT, "at most 1e100" },
        { "C,solved\n1,80\n", NULL, SL_EFORMAT, "solved is 80; it must be a share from 0 to 1" },
        { "C,hits,trials\n1,5,4\n", NULL, SL_EFORMAT, "at most the trials" },
        { "C,loss\n1,2\n", "loss=val", SL_EINVAL, "has no column \"val\" (for loss)" },
        { "C,loss\n1,2\n", "loss", SL_EINVAL, "\"loss\" does not name a column" },
        { "C,loss\n1,2\n", "los=loss", SL_EINVAL, "\"los\" is no column of a table of runs" },
        { "C,loss\n", NULL, SL_EFORMAT, "has no runs" },
        { "C,loss\n1,2,3\n", NULL, SL_EFORMAT, "" },
        { "{\"C\":1}\n{\"C\":\"x\"}\n", NULL, SL_EFORMAT, "line 2: \"C\" is a text" },
        { "{\"C\":1}\n[1]\n", NULL, SL_EFORMAT, "line 2 is an array; a run is an object" },
        { "{\"C\":1}\n{\"C\":\n", NULL, SL_EFORMAT, "line 2: " },
        { "{\"C\":1,\"run\":[1]}\n", NULL, SL_EFORMAT, "it must be a text" },
    };
    for (int i = 0; i < SL_LEN(bad); i++) {
        sl_laws_table table;
        const sl_status st =
            sl_laws_table_read(&table, &t->arena, file_of(t, "bad", bad[i].text), bad[i].map);
        SL_CHECK(t, st == bad[i].st && strstr(sl_last_error(), bad[i].says), "%s: %s", bad[i].text,
                 sl_last_error());
    }
    sl_laws_table table;
    SL_CHECK(t, sl_laws_table_read(&table, &t->arena, "/nowhere/runs.csv", NULL) == SL_EIO, "file");
}

static void a_run_that_diverged_has_no_loss(void **state) {
    sl_fixture *t = *state;
    const sl_laws_table a =
        read_text(t, "f.csv", "C,loss,status\n1,inf,done\n2,3,failed\n3,4,Done\n4,5,\n", NULL);
    SL_CHECK(t, !sl_laws_finished(&a.run[0]) && !sl_laws_finished(&a.run[1]), "not finished");
    SL_CHECK(t, sl_laws_finished(&a.run[2]) && sl_laws_finished(&a.run[3]), "finished");
}

static sl_status read_once(sl_fixture *t, const char *path, const char *map) {
    sl_laws_table table;
    return sl_laws_table_read(&table, &t->arena, path, map);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    const char *csv = file_of(t, "m.csv", "run,N,D,a,b\nr,1,2,3,4\n");
    const char *json = file_of(t, "m.jsonl", "{\"run\":\"r\",\"N\":1,\"D\":2,\"loss\":3}\n");
    SL_EACH_ALLOCATION(t, read_once(t, csv, "loss=a"));
    SL_EACH_ALLOCATION(t, read_once(t, json, NULL));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(usual_names_are_found),
        SL_TEST(the_more_precise_name_is_taken),
        SL_TEST(json_lines_are_the_same_table),
        SL_TEST(a_written_table_reads_back),
        SL_TEST(flops_may_be_derived),
        SL_TEST(mistakes_are_named),
        SL_TEST(a_run_that_diverged_has_no_loss),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("laws.table", tests, SL_LEN(tests));
}
