/* Pictures of ratios of seconds as plain SVG, over a logarithmic axis: rows of dots with whiskers, and the cells of heat
   matrices. */
'use strict';

(function () {
    var d = deepbench, el = d.el, svg = d.svg;
    var WIDTH = 1000, HEIGHT = 24;  /* of a row's picture, in units of its own: its width is that of the column */
    var STRONGEST = Math.log(5);  /* ratio at which a cell has its strongest colour */
    var ROUND = [1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5, 1e6];
    var LEAST = Math.log(1.1);  /* how far an axis reaches to both sides at least */

    /* The class of an interval of ratios: slower or faster where it leaves out 1, else unclear. */
    function side(low, high) {
        return low > 1 ? 'slower' : high < 1 ? 'faster' : 'unclear';
    }

    /* The logarithms between which an axis of `ratios` reaches, with 1 in it. */
    function reach(ratios) {
        var logs = ratios.filter(function (ratio) { return ratio > 0 && isFinite(ratio); }).map(Math.log);
        var low = Math.min.apply(null, logs.concat(-LEAST)), high = Math.max.apply(null, logs.concat(LEAST));
        return [low - 0.04 * (high - low), high + 0.04 * (high - low)];
    }

    /* Round ratios on both sides of 1, at least `apart` of the axis from each other. */
    function ticks(ends, apart) {
        var all = [0].concat(ROUND.flatMap(function (ratio) { return [Math.log(ratio), -Math.log(ratio)]; }))
            .filter(function (log) { return log > ends[0] && log < ends[1]; });
        var least = apart * (ends[1] - ends[0]), taken = [];
        all.sort(function (a, b) { return rank(a) - rank(b); }).forEach(function (log) {
            if (taken.every(function (other) { return Math.abs(other - log) >= least; })) { taken.push(log); }
        });
        return taken.sort(function (a, b) { return a - b; });
    }

    /* Which ticks are kept first: 1, then powers of ten, then 2 and 5, then the others. */
    function rank(log) {
        var ratio = Number(Math.exp(Math.abs(log)).toPrecision(3)), lead = Number(ratio.toExponential().split('e')[0]);
        return ratio === 1 ? 0 : ratio < 2 ? 3 : lead === 1 ? 1 : lead === 2 || lead === 5 ? 2 : 3;
    }

    function tick_text(log) {
        return log === 0 ? 'equal' : d.digits(Math.exp(Math.abs(log)), 3) + '\u00d7';
    }

    function line(kind, x1, x2, y1, y2) {
        return svg('line', {class: kind, x1: x1.toFixed(1), x2: x2.toFixed(1), y1: y1, y2: y2});
    }

    function frame(children) {
        return svg('svg', {viewBox: '0 0 ' + WIDTH + ' ' + HEIGHT, preserveAspectRatio: 'none', 'aria-hidden': 'true'}, children);
    }

    /* A row's picture: {ratio, low, high, from, to, other}. low to high are the whiskers, from to to a thin range, other
       the two ends of the interval that it is compared with, as a pale band. */
    function dot(row, x, marks) {
        function at(ratio) { return x(Math.log(ratio)); }
        var parts = marks.map(function (log) { return line(log ? 'tick' : 'one', x(log), x(log), 0, HEIGHT); });
        if (row.other) {
            parts.unshift(svg('rect', {class: 'other', x: at(row.other[0]), y: 3, width: Math.max(1, at(row.other[1]) - at(row.other[0])), height: HEIGHT - 6}));
        }
        if (row.from) { parts.push(line('range', at(row.from), at(row.to), HEIGHT / 2, HEIGHT / 2)); }
        if (row.low) { parts.push(line('whisker', at(row.low), at(row.high), HEIGHT / 2, HEIGHT / 2)); }
        var mark = el('span', {class: 'mark'});
        mark.style.left = 100 * at(row.ratio) / WIDTH + '%';
        return [frame(parts), mark];
    }

    /* A table of rows with a picture each: rows as for `dot`, with name, id, kind (slower, faster, unclear), note (a text
       or element), href, and key, the id of its link. `heads` are the headings of name, picture and note and `most` the number of rows shown at first. */
    function dots(rows, heads, most) {
        var ratios = rows.flatMap(function (row) { return [row.ratio, row.low, row.high, row.from, row.to].concat(row.other || []); });
        var ends = reach(ratios), x = d.scale(ends[0], ends[1], 0, WIDTH), marks = ticks(ends, 0.09);
        var body = el('tbody', {}, shown(rows.slice(0, most || rows.length)));
        function shown(some) {
            return some.map(function (row) {
                return el('tr', {class: row.kind},
                    el('th', {scope: 'row'}, row.href ? el('a', {href: row.href, id: row.key}, row.name) : row.name, row.id && row.id !== row.name ? el('small', {}, row.id) : []),
                    el('td', {class: 'factor'}, el('strong', {}, d.factor(row.ratio, 2)), row.kind === 'unclear' && d.direction(row.ratio, 2) ? el('small', {}, ' unclear') : []),
                    el('td', {class: 'picture', 'aria-hidden': 'true'}, el('div', {class: 'lane'}, dot(row, x, marks))),
                    el('td', {class: 'rest'}, el('small', {}, row.note || '')));
            });
        }
        var axis = el('div', {class: 'axis', 'aria-hidden': 'true'}, marks.map(function (log) {
            var label = el('span', {}, tick_text(log));
            label.style.left = 100 * x(log) / WIDTH + '%';
            return label;
        }));
        var more = d.more_button(most || rows.length, rows.length, 'Show all ' + rows.length, function () {
            body.append.apply(body, shown(rows.slice(most)));
            return body.rows[most];
        });
        return el('div', {}, el('table', {class: 'dots'}, el('thead', {}, el('tr', {},
            el('th', {scope: 'col'}, heads[0]), el('th', {scope: 'col', class: 'factor'}, 'factor'),
            el('th', {scope: 'col', class: 'picture'}, el('span', {class: 'status'}, heads[1]), axis),
            el('th', {scope: 'col', class: 'rest'}, heads[2]))), body), more);
    }

    /* Give the cell of a matrix the colour of its ratio: `kind` is slow, gain (faster), fast or same. */
    function tint(cell, kind, ratio) {
        cell.classList.add(kind);
        if (kind === 'slow' || kind === 'gain') {
            cell.style.setProperty('--strength', Math.round(10 + 50 * Math.min(1, Math.abs(Math.log(ratio)) / STRONGEST)) + '%');
        }
        return cell;
    }

    /* The meaning of the colours: pairs of a class and its text. */
    function key(pairs) {
        return el('p', {class: 'key'}, pairs.map(function (pair) { return el('span', {}, el('i', {class: pair[0]}), pair[1]); }));
    }

    Object.assign(deepbench, {ratio_side: side, ratio_reach: reach, ratio_marks: ticks, ratio_mark_text: tick_text,
        dots: d.guarded_element(dots), tint: tint, key: key});
})();
