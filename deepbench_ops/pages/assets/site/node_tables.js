/* The nodes of a machine type by family as a heat table, and the kernels of one node.

   deepbench.node_heat(place, {type, catalogue, chosen(), choose(node), view, viewed}) and deepbench.node_kernels(place, {name, rows, catalogue,
   view, viewed}): see table.js for view and viewed. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var ALL = 'all';
    var AT_ONCE = 30;  /* kernels shown first */

    /* The class of a level: slow, gain (faster), or same where the noise cannot tell. */
    function shade(kind) { return kind === 'slow' ? 'slow' : kind === 'fast' ? 'gain' : 'same'; }

    function heading(catalogue, family) {
        return family === ALL ? 'all kernels' : catalogue.headings[family] || d.words(family);
    }

    function factor_text(ratio) { return d.ratio_texts([ratio])[0] + '\u00d7'; }

    /* The number of kernels of a level, and of how many where the node lacks some that most nodes have. */
    function measured(own) { return own.kernels + (own.missing ? ' of ' + (own.kernels + own.missing) : ''); }

    function level(own) {
        if (!own) { return ''; }
        if (own.ratio === null) { return 'not compared'; }
        var note = [d.factor(own.ratio), own.missing ? 'measured ' + measured(own) + ' kernels' : d.counted(own.kernels, 'kernel'), own.low === null ? own.kind : '', own.since ? 'slow since ' + own.since : ''];
        return d.tint(el('span', {class: 'level', title: note.filter(Boolean).join(', ')}, factor_text(own.ratio)), shade(own.kind), own.ratio);
    }

    /* Families in the order of the levels: all kernels first. */
    function families(type) { return d.distinct(type.nodes.flatMap(function (node) { return Object.keys(node.levels); })); }

    function worst(node) {
        var slow = Object.values(node.levels).filter(function (own) { return own.since; }).map(function (own) { return own.since; }).sort();
        return slow.length ? slow[0] : null;
    }

    function node_heat(place, options) {
        function button(node) {
            return el('button', {type: 'button', 'data-node': node.node, 'aria-pressed': String(node.node === options.chosen()), title: 'Show the kernels of this node',
                click: function () { options.choose(node.node); }}, node.node);
        }
        d.table(place, {
            name: 'nodes-' + options.type.machine,
            title: 'Nodes of ' + options.type.machine,
            rows: options.type.nodes,
            cards: true,
            view: options.view,
            viewed: options.viewed,
            taken: [d.same('machine type', options.type.machine)],
            columns: [
                {title: 'node', value: function (node) { return node.node; }, cell: button}
            ].concat(families(options.type).map(function (family) {
                return {title: family, head: heading(options.catalogue, family), number: true, unit: 'time / median',
                    value: function (node) { return node.levels[family] ? node.levels[family].ratio : null; },
                    text: function (value) { return factor_text(value); },
                    cell: function (node) { return level(node.levels[family]); }};
            }), [
                {title: 'kernels', value: function (node) { return node.levels[ALL] ? measured(node.levels[ALL]) : null; }},
                {title: 'slow since', day: true, value: worst},
                {title: 'measured', day: true, value: function (node) { return node.day; }}
            ])
        });
        place.append(d.key([['same', 'within the noise, or by less than the limit'], ['slow', 'slower than the median node'], ['gain', 'faster']]));
    }

    function interval(row) {
        return row.low === null || row.high === null ? 'fewer than three rounds' : d.ratio_texts([row.low, row.high]).join('\u00d7 to ') + '\u00d7';
    }

    function named(row) {
        return el('span', {}, row.title, row.title === row.problem ? [] : [el('br'), el('small', {}, row.problem)]);
    }

    function kernels(place, options) {
        d.table(place, {
            name: options.name,
            title: 'Kernels of the node',
            rows: options.rows,
            cards: true,
            limit: AT_ONCE,
            view: options.view,
            viewed: options.viewed,
            taken: [
                {title: 'readable name', value: function (row) { return row.title; }},
                {title: 'interval from', unit: 'ratio', number: true, value: function (row) { return row.low; }},
                {title: 'interval to', unit: 'ratio', number: true, value: function (row) { return row.high; }}
            ],
            columns: [
                {title: 'problem', long: true, value: function (row) { return row.problem; }, cell: named},
                {title: 'time / median', style: 'factor', number: true, unit: 'ratio', value: function (row) { return row.ratio; }, text: function (value) { return d.factor(value); }},
                {title: 'interval', value: interval},
                {title: 'found', value: function (row) { return row.low === null ? 'not known' : row.kind; }},
                {title: 'slow since', day: true, value: function (row) { return row.since; }},
                {title: 'time', number: true, unit: 'seconds', value: function (row) { return row.seconds; }, text: function (value) { return d.seconds(value); }},
                {title: 'median', head: 'median of nodes', number: true, unit: 'seconds', value: function (row) { return row.median; }, text: function (value) { return d.seconds(value); }},
                {title: 'family', value: function (row) { return heading(options.catalogue, row.family); }},
                {title: 'pass', value: function (row) { return d.words(row.operation); }},
                {title: 'set', value: function (row) { return d.words(row.set); }},
                {title: 'precision', value: function (row) { return d.words(row.precision); }},
                {title: 'release', value: function (row) { return row.release; }}
            ]
        });
    }

    Object.assign(deepbench, {measured_kernels: measured, node_heat: d.guarded(node_heat), node_kernels: d.guarded(kernels)});
})();
