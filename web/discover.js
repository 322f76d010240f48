// discover - a table goes in, a formula comes out: data, search, answer.
import { byId } from "./dom.js";
import { startData } from "./discover_data.js";
import { startSearch } from "./discover_search.js";
import { startAnswer } from "./discover_answer.js";

export function start(info) {
    const answer = startAnswer(byId("answer"));
    const search = startSearch(byId("search-form"), info, {
        begin: (options) => answer.run(data.current(), options),
    });
    answer.onBusy((busy) => search.setBusy(busy));
    const data = startData(info, {
        loaded(table) {
            search.show(table);
            answer.reset(table);
        },
        cleared() {
            search.hide();
            answer.reset(null);
        },
    });
    answer.reset(null);
    search.onColumns((columns) => data.markColumns(columns));
}
