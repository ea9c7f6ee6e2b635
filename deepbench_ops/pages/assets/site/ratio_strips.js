/* Ratios of two releases, as a strip of dots for each family and precision, on one logarithmic axis.

   deepbench.strips(groups, chosen, choose) is a list; a group has {key, label, rows, noise}, with rows of release_comparison.js. The
   band is three standard deviations of the noise to either side. A group's name is a button that chooses it. */
'use strict';

(function () {
    var d = deepbench, el = d.el, svg = d.svg;
    var LEAST = Math.log(1.25), EDGE = 3;  /* % of the width */
    var HEIGHT = 24, MOST_HEIGHT = 72;  /* pixels; many kernels need more room */
    var TICKS = [1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000];

    /* A function from a ratio to its place, in % of the width; faster is left. */
    function axis(groups) {
        var most = Math.max.apply(null, [LEAST].concat(groups.flatMap(function (group) {
            return group.rows.map(function (row) { return Math.abs(Math.log(row.ratio)); });
        })));
        function place(ratio) { return 50 + (50 - EDGE) * Math.max(-1, Math.min(1, Math.log(ratio) / most)); }
        place.most = Math.exp(most);
        return place;
    }

    function percent(value) { return value.toFixed(2) + '%'; }

    /* The ticks of the axis: the largest one within it, one near its middle, and 1. */
    function ticks(place) {
        var within = TICKS.filter(function (tick) { return tick <= place.most; }), largest = within[within.length - 1] || 1.1;
        var middle = within.find(function (tick) { return tick * tick >= largest; });
        var sizes = middle && middle * 1.15 < largest ? [middle, largest] : [largest];
        return sizes.map(function (size) { return 1 / size; }).concat(1, sizes);
    }

    function height(group) { return Math.min(MOST_HEIGHT, Math.max(HEIGHT, 8 * Math.ceil(group.rows.length / 12))); }

    /* `number` spreads the dots of a strip over its height. */
    function dot(row, number, place, high) {
        var lanes = Math.floor((high - 8) / 5), x = percent(place(row.ratio)), y = high / 2 + (number % lanes - (lanes - 1) / 2) * 5;
        return svg('circle', {cx: x, cy: y, r: 4, class: row.verdict}, svg('title', {}, d.kernel_label(row.line) + ': ' + d.factor(row.ratio)));
    }

    function strip(group, place) {
        var band = Math.exp(d.BAND * (group.noise || 0)), high = height(group);
        return svg('svg', {class: 'strip', height: high, 'aria-hidden': 'true'},
            group.noise ? svg('rect', {class: 'band', x: percent(place(1 / band)), width: percent(place(band) - place(1 / band)), y: 0, height: high}) : [],
            ticks(place).map(function (tick) { return svg('line', {class: tick === 1 ? 'one' : '', x1: percent(place(tick)), x2: percent(place(tick)), y1: 0, y2: high}); }),
            group.rows.slice().reverse().map(function (row, number) { return dot(row, number, place, high); }));
    }

    function scale(place) {
        return svg('svg', {class: 'strip scale', height: 18, 'aria-hidden': 'true'}, ticks(place).map(function (tick) {
            return svg('text', {x: percent(place(tick)), y: 13, 'text-anchor': 'middle'}, tick === 1 ? 'same' : d.digits(Math.max(tick, 1 / tick), 3) + '\u00d7');
        }));
    }

    /* The changes of a group in words. */
    function counts(group) {
        var parts = ['slower', 'faster'].map(function (kind) {
            var rows = group.rows.filter(function (row) { return row.verdict === kind; });
            return rows.length ? el('span', {class: kind}, rows.length + ' ' + kind + ' (' + d.digits(Math.exp(Math.abs(Math.log(d.mean_ratio(rows.map(function (row) { return row.ratio; }))))), 3) + '\u00d7)') : null;
        }).filter(Boolean);
        if (!parts.length) { return el('span', {}, group.rows.every(function (row) { return row.verdict === 'unjudged'; }) ? 'unjudged' : 'no change'); }
        return parts.flatMap(function (part, number) { return number ? [', ', part] : [part]; });
    }

    function strips(groups, chosen, choose) {
        var place = axis(groups);
        return el('ul', {class: 'strips'}, groups.map(function (group) {
            return el('li', {},
                el('button', {type: 'button', id: 'group-' + group.key, 'aria-pressed': String(group.key === chosen), click: function () { choose(group.key === chosen ? '' : group.key); }},
                    group.label, ' ', el('small', {}, d.counted(group.rows.length, 'kernel'))),
                strip(group, place), el('span', {class: 'counts'}, counts(group)));
        }), el('li', {class: 'ends', 'aria-hidden': 'true'}, el('span', {}, '\u2190 faster, slower \u2192'), scale(place), el('span')));
    }

    Object.assign(deepbench, {strips: d.guarded_element(strips)});
})();
