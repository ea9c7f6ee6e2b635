/* The families of a machine under one framework, with the share of the roof that their kernels reach. */
'use strict';

(function () {
    var d = deepbench, el = d.el;

    function median(values) {
        var sorted = values.slice().sort(function (a, b) { return a - b; }), half = sorted.length >> 1;
        return !sorted.length ? null : sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /* The middle share of the roof of lines by their newest steady times, and their middle rate in bytes per second. `kernels` is the number
       of lines that have such a time, `all` that of all. */
    function summary(lines) {
        var steady = lines.filter(function (line) { return d.last_steady(line) >= 0; });
        function middle(read) { return median(steady.map(function (line) { return read(line, d.last_steady(line)); }).filter(Boolean)); }
        return {kernels: steady.length, all: lines.length, share: middle(d.of_roof), moved: middle(d.bandwidth)};
    }

    function width(part) { return 100 * part + '%'; }

    function bar(kind, part) {
        var found = el('i', {class: kind});
        found.style.width = width(part);
        return found;
    }

    /* A family's bar: the roof, the middle share of it, and a thinner bar for the machine that it is compared with. */
    function bars(own, other, most) {
        return el('span', {}, bar('roof', 1 / most), own.share ? bar('rate', own.share / most) : [], other && other.share ? bar('rate other', other.share / most) : []);
    }

    function share_text(one) {
        return one.share ? d.percent(one.share, 2) : one.moved ? d.scaled(one.moved, 'B/s') : 'no roof';
    }

    function count_text(one) { return (one.kernels < one.all ? one.kernels + ' of ' : '') + d.counted(one.all, 'kernel'); }

    /* Choose a family, or all again; the focus stays on its button, which is drawn again. */
    function pressed(family, options) {
        options.choose(options.chosen === family ? '' : family);
        var button = document.getElementById('family-' + family);
        if (button) { button.focus({preventScroll: true}); }
    }

    /* Fill `place` with a row for each of `families`. `options`: lines, others (of the machine compared with, null without one), chosen,
       choose(family), catalogue. */
    function families(place, names, options) {
        var rows = names.map(function (family) {
            function of(lines) { return lines && summary(lines.filter(function (line) { return line.family === family; })); }
            return {family: family, own: of(options.lines), other: of(options.others)};
        });
        var most = Math.max.apply(null, [1].concat(rows.flatMap(function (row) { return [row.own.share, row.other && row.other.share]; }).filter(Boolean)));
        place.replaceChildren(el('table', {class: 'bars measured families'},
            el('thead', {class: 'status'}, el('tr', {}, ['family', 'share of the roof', 'middle share'].map(function (title) { return el('th', {scope: 'col'}, title); }))),
            el('tbody', {}, rows.map(function (row) {
                var compared = row.other && row.other.kernels ? [el('br'), el('small', {}, share_text(row.other))] : [];
                return el('tr', {class: 'measured'},
                    el('th', {scope: 'row'}, el('button', {type: 'button', id: 'family-' + row.family, 'aria-pressed': String(options.chosen === row.family),
                        title: 'Show these kernels only', click: function () { pressed(row.family, options); }},
                    d.symbol_key(options.catalogue.families, row.family), ' ', options.catalogue.headings[row.family]), ' ', el('small', {title: row.own.kernels < row.own.all ? 'the others have no steady time' : null}, count_text(row.own))),
                    el('td', {class: 'bar', 'aria-hidden': 'true'}, bars(row.own, row.other, most)),
                    el('td', {class: 'number'}, row.own.kernels ? el('strong', {}, share_text(row.own)) : '\u2013', compared));
            }))));
    }

    Object.assign(deepbench, {machine_families: d.guarded(families), family_summary: summary});
})();
