/* Small pictures as plain SVG, without a library: lines without axes, for lists and tables. */
'use strict';

(function () {
    var SPACE = 'http://www.w3.org/2000/svg';
    var COLOURS = 7;  /* that look different, c0 to c6 in site.css */
    var ROOM = 138, MOST_ROOM = 230, LETTER = 6.2;  /* pixels for the labels of small lines, and the mean width of one of their letters */
    var DASHES = ['none', '8 4', '2 3', '9 3 2 3', '15 4', '14 3 2 3 2 3', '1 6'];

    /* The look of a family or a framework, the same in every picture: colour and mark, which is its symbol or dash. They follow from its place
       among `all` of the catalogue; up to 49 look different. */
    function look(all, name) {
        var place = Math.max(0, all.indexOf(name)), colour = place % COLOURS;
        return {colour: colour, mark: (colour + Math.floor(place / COLOURS)) % COLOURS};
    }

    /* An SVG element with attributes and children, text as text. */
    function svg(name, attributes) {
        var element = document.createElementNS(SPACE, name);
        Object.entries(attributes || {}).forEach(function (pair) { element.setAttribute(pair[0], pair[1]); });
        element.append.apply(element, Array.prototype.slice.call(arguments, 2).flat());
        return element;
    }

    /* A function from values between `low` and `high` to pixels between `from` and `to`. */
    function scale(low, high, from, to) {
        return function (value) { return high > low ? from + (to - from) * (value - low) / (high - low) : (from + to) / 2; };
    }

    function path(points) {
        return points.map(function (point, place) { return (place ? 'L' : 'M') + point[0].toFixed(1) + ' ' + point[1].toFixed(1); }).join('');
    }

    /* A line through positive `values`, on a logarithmic scale; `mark` is the place of the value with a dot, and `kind`
       the class of that dot. It says nothing to screen readers: the text next to it does. */
    function sparkline(values, mark, kind) {
        if (!values.every(function (value) { return value > 0; })) { throw new Error('a time is no positive number'); }
        var width = 100, height = 28, edge = 4, logs = values.map(Math.log);
        var low = Math.min.apply(null, logs), high = Math.max.apply(null, logs);
        var x = scale(0, values.length - 1, edge, width - edge), y = scale(low, high, height - edge, edge);
        var points = logs.map(function (value, place) { return [x(place), y(value)]; });
        return svg('svg', {viewBox: '0 0 ' + width + ' ' + height, class: 'sparkline', 'aria-hidden': 'true'},
            svg('path', {d: path(points)}),
            points[mark] ? svg('circle', {cx: points[mark][0], cy: points[mark][1], r: 3, class: kind}) : []);
    }

    /* Labels at the ends of lines, moved apart so that none covers another: from wanted heights to heights, in pixels. */
    function apart(wanted, least, height) {
        var order = wanted.map(function (_, place) { return place; }).sort(function (a, b) { return wanted[a] - wanted[b]; });
        var found = [], last = -Infinity;
        order.forEach(function (place) { last = found[place] = Math.max(wanted[place], last + least); });
        var over = Math.max(0, last - height);
        order.reverse().forEach(function (place, turn) {
            found[place] = Math.min(found[place], height - turn * least, found[place] - (turn ? 0 : over));
        });
        return found;
    }

    /* Lines over the same places, each {label, look, at, values}, with their labels at the right end. `count`: how many
       places there are. Values are positive; the scale is logarithmic and holds 1, drawn as a thin line. */
    function lines(given, count) {
        var width = 300, height = 84, edge = 8, longest = Math.max.apply(null, given.map(function (line) { return line.label.length; }));
        var room = Math.max(ROOM, Math.min(MOST_ROOM, LETTER * longest + 14));
        var logs = given.flatMap(function (line) { return line.values.map(Math.log); }).concat(0);
        var x = scale(0, count - 1, edge, width - room), y = scale(Math.min.apply(null, logs), Math.max.apply(null, logs), height - edge, edge);
        var drawn = given.map(function (line) {
            return line.values.map(function (value, place) { return [x(line.at[place]), y(Math.log(value))]; });
        });
        var heights = apart(drawn.map(function (points) { return points[points.length - 1][1]; }), 12, height - 4);
        return svg('svg', {viewBox: '0 0 ' + width + ' ' + height, class: 'lines', 'aria-hidden': 'true'},
            svg('path', {d: path([[edge, y(0)], [width - room, y(0)]]), class: 'one'}),
            drawn.map(function (points, place) {
                return svg('path', {d: path(points), class: 'series c' + given[place].look.colour, 'stroke-dasharray': DASHES[given[place].look.mark]});
            }),
            given.map(function (line, place) {
                return svg('text', {x: width - room + 6, y: heights[place] + 4, class: 'c' + line.look.colour}, line.label);
            }));
    }

    /* Places of the labels of vertical lines, so that none covers another or a line: {x, row, anchor} of each label from the places of the
       lines and the widths of the labels. The labels of the left half of the lines lie left of them, the others right. */
    function places_of_labels(lines, widths, width) {
        var found = [], order = lines.map(function (_, place) { return place; }).sort(function (a, b) { return lines[a] - lines[b]; });
        var half = order.length >> 1;
        function placed(some, from_edge, anchor) {
            var ends = [];
            some.forEach(function (place) {
                var near = Math.min(from_edge(lines[place]) + 3, width - widths[place]), row = ends.findIndex(function (end) { return end < near; });
                row = row < 0 ? ends.length : row;
                ends[row] = near + widths[place];
                found[place] = {x: from_edge(near), row: row, anchor: anchor};
            });
            return ends.length;
        }
        var left = placed(order.slice(0, half).reverse(), function (x) { return width - x; }, 'end');
        var right = placed(order.slice(half), function (x) { return x; }, 'start');
        return {places: found, rows: Math.max(left, right)};
    }

    /* Counts of positive `values` on a logarithmic axis, with a labelled line at each of `ridges`, {name, at, chosen}, `width` pixels wide. */
    function histogram(values, ridges, width) {
        var foot = 22, edge = 10, per_decade = 4, line = 13;
        var all = values.concat(ridges.map(function (one) { return one.at; })).map(Math.log10);
        var first = Math.floor(per_decade * Math.min.apply(null, all)), last = Math.ceil(per_decade * Math.max.apply(null, all)) + 1;
        var x = scale(first / per_decade, last / per_decade, edge, width - edge), counts = {};
        values.forEach(function (value) {
            var bin = Math.floor(per_decade * Math.log10(value));
            counts[bin] = (counts[bin] || 0) + 1;
        });
        var texts = ridges.map(function (one) { return one.name + ', ' + deepbench.digits(one.at, 3) + (one.chosen && width > 500 ? ' FLOP per byte' : ''); });
        var lines = ridges.map(function (one) { return x(Math.log10(one.at)); });
        var labels = places_of_labels(lines, texts.map(function (text) { return LETTER * text.length + 8; }), width);
        var top = 8 + line * labels.rows, height = 160 + top, y = scale(0, Math.max.apply(null, Object.values(counts)), height - foot, top + 6);
        var decades = [];
        for (var power = Math.ceil(first / per_decade); power <= last / per_decade; power += 1) { decades.push(power); }
        return svg('svg', {viewBox: '0 0 ' + width + ' ' + height, class: 'histogram', role: 'img',
            'aria-label': 'Histogram of ' + values.length + ' problems by FLOP per byte'},
        Object.entries(counts).map(function (pair) {
            var from = x(pair[0] / per_decade), to = x((Number(pair[0]) + 1) / per_decade);
            return svg('rect', {x: from + 1, y: y(pair[1]), width: to - from - 2, height: height - foot - y(pair[1])},
                svg('title', {}, deepbench.counted(pair[1], 'problem')));
        }),
        ridges.map(function (one, place) {
            var up = line * (labels.places[place].row + 1);
            return svg('g', {class: one.chosen ? 'ridge chosen' : 'ridge'}, svg('path', {d: path([[lines[place], up - 9], [lines[place], height - foot]])}),
                svg('text', {x: labels.places[place].x, y: up, 'text-anchor': labels.places[place].anchor}, texts[place]));
        }),
        decades.map(function (power) {
            return svg('text', {x: x(power), y: height - 6, 'text-anchor': 'middle'}, deepbench.digits(Math.pow(10, power), 3));
        }));
    }

    /* The point that a key leads to from the `current` one, null where there is none. `lines` are lists of points with a place `at`, in
       pixels: left, right, Home and End lead along a list, up and down to the nearest point from left to right of another one. */
    function next_point(lines, current, key) {
        var row = lines.findIndex(function (some) { return some.includes(current); });
        if (row < 0) { return lines.length ? lines[0][lines[0].length - 1] : null; }
        var own = lines[row], at = own.indexOf(current);
        if (key === 'Home') { return own[0]; }
        if (key === 'End') { return own[own.length - 1]; }
        if (key === 'ArrowLeft' || key === 'ArrowRight') { return own[Math.max(0, Math.min(own.length - 1, at + (key === 'ArrowRight' ? 1 : -1)))]; }
        var other = lines[(row + (key === 'ArrowDown' ? 1 : lines.length - 1)) % lines.length];
        return other.slice().sort(function (a, b) { return Math.abs(a.at[0] - current.at[0]) - Math.abs(b.at[0] - current.at[0]); })[0];
    }

    /* Whether a key event asks for another point. */
    function asks_for_point(event) {
        return /^(Arrow|Home$|End$)/.test(event.key) && !(event.altKey || event.ctrlKey || event.metaKey);
    }

    /* Show the lines of text of a point in `tip`, next to its place in `box`. */
    function show_tip(tip, box, at, said) {
        tip.hidden = false;
        tip.replaceChildren.apply(tip, said.flatMap(function (line, row) { return row ? [deepbench.el('br'), line] : [deepbench.el('strong', {}, line)]; }));
        tip.style.left = Math.max(0, Math.min(box.clientWidth - tip.offsetWidth, at[0] + 14)) + 'px';
        tip.style.top = (at[1] > box.clientHeight / 2 ? at[1] - tip.offsetHeight - 12 : at[1] + 14) + 'px';
    }

    Object.assign(deepbench, {svg: svg, scale: scale, path: path, histogram: deepbench.guarded_element(histogram), sparkline: deepbench.guarded_element(sparkline), small_lines: lines, apart: apart, COLOURS: COLOURS, DASHES: DASHES, look: look,
        next_point: next_point, asks_for_point: asks_for_point, show_tip: show_tip});
})();
