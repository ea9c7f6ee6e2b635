/* Published figures of whole models, next to those of a machine: names, rates, precisions that differ, and bars. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var MOST = 12;  /* rows shown at first */

    function label(row) {
        return row.printed + (row.batch ? ', batch ' + row.batch : '') + (row.threads > 1 ? ', ' + row.threads + ' at once' : '') +
            (row.devices > 1 ? ', ' + row.devices + ' devices' : '');
    }

    function per_second(row) {
        return /\/sec$/.test(row.unit) ? row.published : null;
    }

    function cell(row, machine) {
        return row.here[machine] && row.here[machine].per_second ? row.here[machine] : null;
    }

    /* The precision of a measured cell where it differs from the published one, or that is not known. */
    function unlike(row, machine) {
        var here = cell(row, machine);
        return here && here.differs.includes(here.precision) ? here.precision : '';
    }

    /* Differences from the published figure that its bar does not name, in words; '' where there are none. */
    function otherwise(row, machine) {
        var here = cell(row, machine);
        return here.differs.filter(function (text) { return text !== unlike(row, machine) && text !== here.by; }).join(', ');
    }

    function rate(value) { return value >= 1000 ? d.grouped(Math.round(value)) : d.digits(value, 3); }

    function mark_of(row, machine) {
        return unlike(row, machine) ? 'at ' + unlike(row, machine) + (row.precision ? ', not ' + row.precision : '; the published precision is not stated') : '';
    }

    /* A row of bars. The factor is that of times, so slower means fewer items per second. */
    function pair(row, machine) {
        var here = cell(row, machine), other = unlike(row, machine), why = machine && (row.here[machine] || {}).why_not || [];
        var bars = [{kind: 'published', value: row.published, text: rate(row.published) + '/s published'}];
        if (here) {
            bars.push({kind: other ? 'measured unlike' : 'measured', value: here.per_second, text: rate(here.per_second) + '/s here' + (here.by ? ', ' + here.by : ''), mark: mark_of(row, machine)});
        } else if (machine) {
            bars.push({kind: 'measured', text: why.length ? 'not measured: ' + why[0] : 'not measured'});
        }
        return {name: label(row), note: [d.words(row.operation), row.precision || 'precision not stated', row.framework, row.machine].join(', '), bars: bars,
            factor: here ? d.factor(row.published / here.per_second) : '',
            factor_note: here ? [other ? 'unlike precisions' : '', otherwise(row, machine)].filter(Boolean).join('; ') : ''};
    }

    /* Measured rows first, of these the ones of the same precision. */
    function rank(row, machine) {
        return !cell(row, machine) ? 2 : unlike(row, machine) ? 1 : 0;
    }

    /* Fill `place` with the bars of a table of published figures; `title` names their source, and `known` is the machine in the catalogue. */
    function bars(place, rows, machine, title, known) {
        var drawable = rows.filter(per_second).sort(function (a, b) { return rank(a, machine) - rank(b, machine); });
        place.hidden = !drawable.length;
        if (!drawable.length) { return; }
        var found = d.bar_rows(drawable.map(function (row) { return pair(row, machine); }),
            ['model', 'items per second, on a logarithmic scale'].concat(machine ? [[d.marked_name(machine, known), ' compared']] : []), MOST);
        place.replaceChildren(found, machine ? '' : el('div', {}, el('p', {}, 'No machine has measured whole models yet. This command measures them:'),
            d.command_block('asv run --bench "$(deepbench select models-inference)" torch')), el('div', {class: 'tools'}, d.picture_buttons(function () { return found; }, function () {
            return {name: 'models-' + title + (machine ? '-' + machine : ''), title: 'Whole models, items per second',
                sides: 'Published by ' + title + (machine ? '; measured on ' + machine : '')};
        })));
    }

    deepbench.model_rows = {cell: cell, unlike: unlike, per_second: per_second, bars: bars};
})();
