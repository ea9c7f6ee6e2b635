/* The kernels of a machine as a table, each with its newest time.

   deepbench.kernel_table(place, {name, title, lines, catalogue, view, viewed}): see table.js for view and viewed. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var AT_ONCE = 30;  /* rows shown first: the page is usable at once, however many kernels there are */

    function newest(read) {
        return function (line) { return read(line, d.last(line)); };
    }

    /* The readable name with the id small below; the link leads to the timeline. */
    function named(line) {
        var name = line.problem.title || d.kernel_name(line);
        return el('span', {}, el('a', {href: d.timeline_address(line)}, name), name === d.kernel_name(line) ? [] : [el('br'), el('small', {}, d.kernel_name(line))]);
    }

    /* Opens below a row: the whole line, which has its notes. */
    function detail(catalogue, line) {
        var place = el('div', {}, 'Loading \u2026');
        d.whole_line(catalogue, line, line.at[d.last(line)]).then(function (whole) {
            place.replaceChildren(whole ? d.detail(whole, whole.at.indexOf(line.at[d.last(line)])) : 'The line of this time is not among the published data.');
        }).catch(function (reason) { place.textContent = reason.message; });
        return place;
    }

    function columns(lines) {
        var families = d.distinct(lines.map(function (line) { return line.family; }));
        return [
            {title: 'problem', long: true, value: d.kernel_name, cell: named},
            {title: 'of the roof', head: 'share of roof', style: 'factor', unit: 'share', number: true, value: newest(d.of_roof), text: function (value) { return d.percent(value); }},
            {title: 'time', unit: 'seconds', number: true, value: newest(function (line, i) { return line.seconds[i]; }), text: d.seconds}
        ].concat(d.version_columns(lines, newest(function (line, i) { return [['', d.other_versions(line.seconds[i], line.conflict && line.conflict[i])]]; })), [
            {title: 'rate', unit: 'FLOP/s', number: true, value: newest(function (line, i) { return line.flops ? d.rate(line, i) : null; }), text: function (value) { return d.scaled(value, 'FLOP/s'); }},
            d.intensity_column(function (line) { return line.flops && line.bytes ? line.flops / line.bytes : null; }),
            {title: 'memory', head: 'memory rate', unit: 'bytes/s', number: true, value: newest(d.bandwidth), text: function (value) { return d.scaled(value, 'B/s'); }},
            {title: 'family', value: function (line) { return line.heading; }},
            {title: 'pass', value: function (line) { return d.words(line.operation); }},
            {title: 'set', value: function (line) { return d.words(line.set); }}
        ], d.interval_columns(function (line) { return {line: line, place: d.last(line)}; }), [
            {title: 'noise', unit: 'share', number: true, note: 'standard deviation between processes', value: function (line) { return line.noise; },
                text: function (value) { return d.percent(value, 2); }},
            {title: 'release', value: newest(function (line, i) { return line.releases[i].name; })},
            {title: 'application', long: true, value: function (line) { return line.problem.application; }}
        ]).filter(function (column) { return column.title !== 'family' || families.length > 1; });
    }

    function kernel_table(place, options) {
        var families = d.distinct(options.lines.map(function (line) { return line.family; }));
        d.table(place, Object.assign({}, options, {
            rows: options.lines,
            cards: true,
            limit: AT_ONCE,
            taken: d.of_lines(function (line) { return line; }).filter(function (column) { return column.title !== 'family' || families.length < 2; })
                .concat({title: 'readable name', value: function (line) { return line.problem.title; }}),
            columns: columns(options.lines),
            detail: function (line) { return detail(options.catalogue, line); }
        }));
    }

    Object.assign(deepbench, {kernel_table: d.guarded(kernel_table)});
})();
