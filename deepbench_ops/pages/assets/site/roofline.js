/* The roofline of a machine as plain SVG: FLOP/s of each kernel over its FLOP per byte, under the roof that arithmetic and memory
   allow; a second machine is drawn hollow, under a dashed roof.

   deepbench.roofline(place, {families, sides, note}) fills `place`, and draws again when its width changes. A side has {name, lines,
   peak, bandwidth}; peak and bandwidth are null where they are not known. `families` are those of the catalogue, by which colours and symbols go.
   `note(line)` is a list of texts that are shown next to a point. Points are read with the pointer or with the arrow keys: left and right
   along a family, up and down to another one. A click or Enter opens the kernel's timeline. */
'use strict';

(function () {
    var d = deepbench, el = d.el, svg = d.svg;
    var MARGIN = {left: 86, right: 12, top: 20, bottom: 40};  /* pixels */
    var ROOM = {x: 70, y: 40};  /* pixels for a label */
    var REACH = 18;  /* pixels around a point in which the pointer finds it */
    var SYMBOLS = [
        'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z', 'M-3.6-3.6h7.2v7.2h-7.2z', 'M0-5.2L4.6 0L0 5.2L-4.6 0z', 'M0-4.8L4.8 3.8H-4.8z',
        'M-1.4-4.4h2.8v3h3v2.8h-3v3h-2.8v-3h-3v-2.8h3z', 'M-4.4-2.6L-2.6-4.4L0-1.8L2.6-4.4L4.4-2.6L1.8 0L4.4 2.6L2.6 4.4L0 1.8L-2.6 4.4L-4.4 2.6L-1.8 0z',
        'M0-5.2L1.5-1.7L5.2-1.5L2.3.9L3.3 4.5L0 2.4L-3.3 4.5L-2.3.9L-5.2-1.5L-1.5-1.7z'
    ];

    /* The symbol of a family; `more` are its further classes. */
    function symbol(families, family, more, attributes) {
        var look = d.look(families, family);
        return svg('path', Object.assign({class: 'c' + look.colour + more, d: SYMBOLS[look.mark]}, attributes));
    }

    /* A symbol of its own, as a key in front of a family's name. */
    function symbol_key(families, family) {
        return svg('svg', {class: 'symbol', viewBox: '-6 -6 12 12', 'aria-hidden': 'true'}, symbol(families, family, ''));
    }

    function intensity(line) { return line.flops / line.bytes; }
    function rate(line) { return d.rate(line, d.last(line)); }

    /* The ends of both axes: all kernels, and both parts of each roof. */
    function ends(sides) {
        var x = [], y = [];
        sides.forEach(function (side) {
            side.lines.forEach(function (line) { x.push(intensity(line)); y.push(rate(line)); });
            if (side.peak) { y.push(side.peak); }
            if (side.peak && side.bandwidth) { x.push(side.peak / side.bandwidth / 2, 2 * side.peak / side.bandwidth); }
        });
        return [Math.min.apply(null, x) / 1.4, Math.max.apply(null, x) * 1.4, Math.min.apply(null, y) / 1.6, Math.max.apply(null, y) * 1.6];
    }

    function grid(x, y, from, width, height) {
        var right = width - MARGIN.right, foot = height - MARGIN.bottom;
        var xs = d.log_ticks(from[0], from[1], Math.max(2, Math.floor((right - MARGIN.left) / ROOM.x)));
        var ys = d.log_ticks(from[2], from[3], Math.max(2, Math.floor((foot - MARGIN.top) / ROOM.y)));
        return [
            xs.map(function (value) { return svg('path', {class: 'grid', d: d.path([[x(value), MARGIN.top], [x(value), foot]])}); }),
            ys.map(function (value) { return svg('path', {class: 'grid', d: d.path([[MARGIN.left, y(value)], [right, y(value)]])}); }),
            xs.map(function (value) { return svg('text', {class: 'x', x: x(value), y: foot + 16, 'text-anchor': 'middle'}, d.digits(value, 3)); }),
            ys.map(function (value) { return svg('text', {class: 'y', x: MARGIN.left - 6, y: y(value) + 4, 'text-anchor': 'end'}, d.scaled(value, 'FLOP/s')); }),
            svg('text', {x: (MARGIN.left + right) / 2, y: height - 6, 'text-anchor': 'middle'}, 'FLOP per byte')
        ].flat();
    }

    /* The roof of a side with its peak and bandwidth; `several`: whether the name of the machine belongs to them. */
    function roof(side, place, x, y, from, several) {
        if (!side.peak || !side.bandwidth) { return []; }
        var ridge = side.peak / side.bandwidth, start = Math.max(from[0], from[2] / side.bandwidth);
        var points = [start, ridge, from[1]].map(function (value) { return [x(value), y(Math.min(side.peak, side.bandwidth * value))]; });
        var whose = several ? side.name + ': ' : '';
        return [svg('path', {class: place ? 'roof other' : 'roof', d: d.path(points)}),
            svg('text', {class: 'figure', x: points[2][0], y: points[2][1] + (place ? 15 : -6), 'text-anchor': 'end'}, whose + d.scaled(side.peak, 'FLOP/s')),
            svg('text', {class: 'figure', x: points[0][0] + (place ? 34 : 16), y: points[0][1] + (place ? 18 : 4)}, whose + d.scaled(side.bandwidth, 'B/s'))];
    }

    /* The picture, and lists of the points of each side and family from left to right; a point is {at, line, other}, `at` in pixels. */
    function drawn(options, width, height) {
        var from = ends(options.sides), log = from.map(Math.log);
        var across = d.scale(log[0], log[1], MARGIN.left, width - MARGIN.right), up = d.scale(log[2], log[3], height - MARGIN.bottom, MARGIN.top);
        function x(value) { return across(Math.log(value)); }
        function y(value) { return up(Math.log(value)); }
        var points = options.sides.flatMap(function (side, place) {
            return side.lines.map(function (line) { return {at: [x(intensity(line)), y(rate(line))], line: line, other: place > 0}; });
        });
        var marks = points.slice().reverse().map(function (point) {
            return symbol(options.families, point.line.family, ' kernel' + (point.other ? ' other' : ''), {
                transform: 'translate(' + point.at[0].toFixed(1) + ' ' + point.at[1].toFixed(1) + ')'});
        });
        return {lists: lists(points, options.families), picture: svg('svg', {class: 'roofline', width: width, height: height, viewBox: '0 0 ' + width + ' ' + height, 'aria-hidden': 'true'},
            grid(x, y, from, width, height), marks,
            options.sides.flatMap(function (side, place) { return roof(side, place, x, y, from, options.sides.length > 1); }))};
    }

    function lists(points, families) {
        return [false, true].flatMap(function (other) {
            return families.map(function (family) {
                return points.filter(function (point) { return point.other === other && point.line.family === family; })
                    .sort(function (a, b) { return a.at[0] - b.at[0] || a.at[1] - b.at[1]; });
            });
        }).filter(function (some) { return some.length; });
    }

    /* The point nearest to a place in the picture; undefined where none is near. */
    function nearest(points, x, y) {
        var best, least = REACH;
        points.forEach(function (point) {
            var away = Math.hypot(point.at[0] - x, point.at[1] - y);
            if (away < least) { least = away; best = point; }
        });
        return best;
    }

    /* Show the note of a point, with a circle around it; without a point none. */
    function point_at(place, point) {
        var note = place.querySelector('.note'), picture = place.querySelector('svg');
        place.current = point;
        picture.classList.toggle('pointed', Boolean(point));
        picture.querySelectorAll('.cursor').forEach(function (part) { part.remove(); });
        note.hidden = !point;
        if (!point) { return; }
        picture.append(svg('circle', {class: 'cursor', cx: point.at[0], cy: point.at[1], r: 9}));
        d.show_tip(note, place, point.at, place.roofline.note(point.line).filter(Boolean));
    }

    function open_timeline(point) {
        if (point) { location.href = d.timeline_address(point.line); }
    }

    function listen(place) {
        function near(event) {
            var box = place.getBoundingClientRect();
            return nearest(place.lists.flat(), event.clientX - box.left, event.clientY - box.top);
        }
        place.addEventListener('pointermove', function (event) {
            var point = near(event);
            if (point !== place.current) { point_at(place, point); }
        });
        ['pointerleave', 'blur'].forEach(function (name) { place.addEventListener(name, function () { point_at(place, undefined); }); });
        place.addEventListener('click', function (event) { open_timeline(near(event)); });
        place.addEventListener('keydown', function (event) {
            if (event.key === 'Escape') { point_at(place, undefined); }
            if (event.key === 'Enter') { open_timeline(place.current); }
            if (!d.asks_for_point(event)) { return; }
            event.preventDefault();
            point_at(place, d.next_point(place.lists, place.current, event.key));
        });
    }

    var resized = new ResizeObserver(function (entries) {
        entries.forEach(function (entry) {
            var place = entry.target;
            if (place.roofline && place.clientWidth !== place.roofline.width) { draw(place, place.roofline); }
        });
    });

    d.when_printed(function () {
        var place = document.getElementById('roofline');
        if (place.roofline && !place.hidden) { draw(place, place.roofline); }
    });

    function draw(place, options) {
        options.width = place.clientWidth;
        var found = drawn(options, options.width, place.clientHeight);
        place.lists = found.lists;
        place.current = undefined;
        place.setAttribute('aria-label', options.described + '. The arrow keys lead from point to point, Enter opens the timeline.');
        place.replaceChildren(found.picture, el('div', {class: 'note', role: 'status', hidden: true}));
    }

    function roofline(place, options) {
        if (!place.roofline) { listen(place); }
        place.roofline = options;
        draw(place, options);
        resized.observe(place);
    }

    Object.assign(deepbench, {roofline: d.guarded(roofline), symbol_key: symbol_key});
})();
