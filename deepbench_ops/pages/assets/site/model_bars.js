/* Rows with bars of a common logarithmic scale, each with its figure at its end.

   deepbench.bar_rows(rows, heads, most) is a table; a row has name, note, bars, and a factor with a note of its own. A bar is
   {kind, value, text, mark}: `mark` is a warning behind its figure; without a value its text stands alone. heads are the headings of
   name, bars and factor, and `most` the number of rows shown at first. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var WIDEST = 60;  /* % of the width; figures need the rest */

    function bar(one, width) {
        var shown = el('i');
        if (one.value) { shown.style.width = width(one.value).toFixed(2) + '%'; }
        return el('div', {class: 'one ' + one.kind + (one.value ? '' : ' none')}, one.value ? shown : [], el('span', {}, one.text, one.mark ? [' ', el('em', {}, one.mark)] : []));
    }

    function bar_rows(rows, heads, most) {
        var values = rows.flatMap(function (row) { return row.bars.map(function (one) { return one.value; }).filter(Boolean); });
        var low = Math.min.apply(null, values) / 2, high = Math.max.apply(null, values);
        function width(value) { return WIDEST * Math.log(value / low) / Math.log(high / low); }
        function shown(some) {
            return some.map(function (row) {
                return el('tr', {}, el('th', {scope: 'row'}, row.name, row.note ? el('small', {}, row.note) : []),
                    el('td', {class: 'picture'}, el('div', {class: 'bars-of'}, row.bars.map(function (one) { return bar(one, width); }))),
                    heads[2] ? el('td', {class: 'factor'}, row.factor || '', row.factor_note ? el('small', {}, row.factor_note) : []) : []);
            });
        }
        var body = el('tbody', {}, shown(rows.slice(0, most)));
        var more = d.more_button(most, rows.length, 'Show all ' + rows.length, function () {
            body.append.apply(body, shown(rows.slice(most)));
            return body.rows[most];
        });
        return el('div', {}, el('table', {class: 'pairs'}, el('thead', {}, el('tr', {}, heads.map(function (head, at) {
            return el('th', {scope: 'col', class: ['', 'picture', 'factor'][at]}, head);
        }))), body), more);
    }

    Object.assign(deepbench, {bar_rows: d.guarded_element(bar_rows)});
})();
