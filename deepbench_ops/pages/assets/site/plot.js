/* Charts with axes as plain SVG: lines and points with intervals as bands, labels at the ends of lines, marks. Points are read
   with the pointer or with the arrow keys.

   deepbench.plot(place, {name, title, sides, described, x, y, series, marks}): x and y are axes (axes.js) with a `title`. A series is
   {label, colour, dash, line, points}: `colour` 0 to 6, else grey; `dash` 0 to 6; `label` stands at its end. A point is {x, y, kind, said},
   where the time has an interval also {low, high}; `kind` is its shape (SHAPES), `changed` marks another implementation, `said` are lines of text. A mark
   is {x, y, kind, text}: a triangle for slower or faster. title and sides are the heading of saved pictures. */
'use strict';

(function () {
    var d = deepbench, el = d.el, svg = d.svg;
    var TOP = 26, FOOT = 30, TITLE = 18, EDGE = 10, LETTER = 6.8, LINE = 15, NEAR = 40;  /* pixels */
    var MOST_ROOM = 0.32;  /* share of the width for labels */
    var SHAPES = {
        filled: function (x, y) { return svg('circle', {class: 'point', cx: x, cy: y, r: 4}); },
        hollow: function (x, y) { return svg('circle', {class: 'point hollow', cx: x, cy: y, r: 3.5}); },
        square: function (x, y) { return svg('rect', {class: 'point', x: x - 3.5, y: y - 3.5, width: 7, height: 7}); },
        crossed: function (x, y) { return svg('path', {class: 'point crossed', d: d.path([[x - 4, y - 4], [x + 4, y + 4]]) + d.path([[x - 4, y + 4], [x + 4, y - 4]])}); },
        tick: function (x, y) { return svg('path', {class: 'point crossed', d: d.path([[x, y - 11], [x, y + 11]])}); },
        slower: function (x, y) { return svg('path', {class: 'change slower', d: d.path([[x - 7, y + 6], [x + 7, y + 6], [x, y - 7]]) + 'Z'}); },
        faster: function (x, y) { return svg('path', {class: 'change faster', d: d.path([[x - 7, y - 6], [x + 7, y - 6], [x, y + 7]]) + 'Z'}); }
    };

    /* Beginning and end of each run of points with intervals; the band is interrupted between runs. */
    function runs(points) {
        return points.reduce(function (found, point, at) {
            var last = found[found.length - 1];
            if (!(point.low && point.high)) { return found; }
            if (last && last[1] === at) { last[1] = at + 1; } else { found.push([at, at + 1]); }
            return found;
        }, []);
    }

    function band(points, x, y) {
        var high = points.map(function (point) { return [x.at(point.x), y.at(point.high)]; });
        var low = points.map(function (point) { return [x.at(point.x), y.at(point.low)]; }).reverse();
        if (points.length === 1) { return svg('path', {class: 'bar', d: d.path([high[0], low[0]])}); }
        return svg('path', {class: 'band', d: d.path(high.concat(low)) + 'Z'});
    }

    function look(series) {
        return 'series' + (series.colour >= 0 && series.colour < d.COLOURS ? ' c' + series.colour : '');
    }

    /* A sentence where there are more lines than looks; else ''. */
    function too_many(all) {
        var grey = all.filter(function (one) { return one.colour >= d.COLOURS; }).length;
        var alike = all.filter(function (one) { return one.dash >= d.DASHES.length; }).length, most = Math.max(grey, alike);
        return most ? 'Only ' + d.COLOURS + ' colours and dashes look different: ' + d.counted(most, 'further line') +
            (most === 1 ? ' is' : ' are') + ' grey or share the last dash. Choose fewer, or point at a line.' : '';
    }

    /* The line, band and points of a series; points hold their values, as the page's tests read them. */
    function drawn(series, x, y) {
        var points = series.points, places = points.map(function (point) { return [x.at(point.x), y.at(point.y)]; });
        return svg('g', {class: look(series), 'data-label': series.label},
            runs(points).map(function (run) { return band(points.slice(run[0], run[1]), x, y); }),
            series.line === false ? [] : svg('path', {class: 'path', d: d.path(places), 'stroke-dasharray': d.DASHES[series.dash || 0] || d.DASHES[6]}),
            points.flatMap(function (point, at) {
                var shape = point.kind ? SHAPES[point.kind](places[at][0], places[at][1]) : null;
                if (shape) { Object.entries({'data-x': point.x, 'data-y': point.y}).forEach(function (pair) { shape.setAttribute(pair[0], pair[1]); }); }
                return [point.changed ? SHAPES.tick(places[at][0], places[at][1]) : [], shape || []].flat();
            }));
    }

    /* The lines of a label of at most so many letters each. On paper it is complete; on a screen, where the pointer and the table show all
       of it, it is one line. */
    function broken_label(label, letters) {
        if (!d.printed()) { return [label.length > letters ? label.slice(0, letters - 1) + '\u2026' : label]; }
        return label.split(' ').reduce(function (found, word) {
            var last = found[found.length - 1];
            if (last && last.length + word.length < letters) { found[found.length - 1] = last + ' ' + word; } else { found.push(word); }
            return found;
        }, []);
    }

    /* Labels at the ends of lines, each with a thin line to its end. */
    function end_labels(all, x, y, left, height, letters) {
        var ends = all.map(function (series) { return series.points[series.points.length - 1]; });
        var labels = all.map(function (series) { return broken_label(series.label, letters); });
        var most = Math.max.apply(null, [1].concat(labels.map(function (lines) { return lines.length; })));
        var heights = d.apart(ends.map(function (point) { return y.at(point.y); }), LINE * most, height - LINE * (most - 1));
        return all.map(function (series, at) {
            return svg('g', {class: look(series) + ' end', 'data-label': series.label},
                svg('path', {class: 'lead', d: d.path([[x.at(ends[at].x) + 5, y.at(ends[at].y)], [left + 4, heights[at]]])}),
                labels[at].map(function (line, row) { return svg('text', {x: left + 8, y: heights[at] + 4 + row * (LINE - 2)}, line); }));
        });
    }

    /* Triangles with their texts, the largest change first; a text that would cover another one is left out. */
    function marks(all, x, y, left, right) {
        var taken = all.map(function (mark) { return [x.at(mark.x), y.at(mark.y) + 4, 7]; });
        return all.map(function (mark) {
            var at = [x.at(mark.x), y.at(mark.y)], half = mark.text.length * LETTER / 2, up = mark.kind === 'slower';
            var middle = Math.min(right - half, Math.max(left + half, at[0]));
            var top = [14, 30, 46, 62].map(function (far) { return at[1] + (up ? -far : far + 8); }).find(function (each) {
                return each > 12 && taken.every(function (other) { return Math.abs(other[1] - each) > 13 || Math.abs(other[0] - middle) > half + other[2] + 4; });
            });
            if (top !== undefined) { taken.push([middle, top, half]); }
            return svg('g', {class: 'mark ' + mark.kind, 'data-x': mark.x}, SHAPES[mark.kind](at[0], at[1]),
                top === undefined ? [] : svg('text', {x: middle, y: top, 'text-anchor': 'middle'}, mark.text));
        });
    }

    function axes(options, x, y, left, right, bottom) {
        return svg('g', {class: 'axes'},
            y.ticks.flatMap(function (tick) {
                var at = y.at(tick.value);
                return [svg('path', {class: 'grid', d: d.path([[left, at], [right, at]])}), svg('text', {class: 'y', x: left - 6, y: at + 4, 'text-anchor': 'end'}, tick.text)];
            }),
            x.ticks.flatMap(function (tick) {
                var at = x.at(tick.value);
                return [svg('path', {class: 'grid', d: d.path([[at, bottom], [at, bottom + 5]])}), svg('text', {class: 'x', x: at, y: bottom + 18, 'text-anchor': 'middle'}, tick.text)];
            }),
            svg('path', {class: 'base', d: d.path([[left, bottom], [right, bottom]])}),
            svg('text', {class: 'title', x: 0, y: 12}, options.y.title || ''),
            options.x.title ? svg('text', {class: 'title', x: (left + right) / 2, y: bottom + 18 + TITLE, 'text-anchor': 'middle'}, options.x.title) : []);
    }

    function values(all, letter) {
        return all.flatMap(function (series) {
            return series.points.flatMap(function (point) { return letter === 'y' ? [point.y, point.low, point.high].filter(Boolean) : [point.x]; });
        });
    }

    /* The series with the points that have a place on the axes. */
    function drawable(options) {
        function placed(point) { return typeof point.y === 'number' && isFinite(point.y) && (options.y.type !== 'log' || point.y > 0); }
        return options.series.map(function (series) { return Object.assign({}, series, {points: series.points.filter(placed)}); })
            .filter(function (series) { return series.points.length; });
    }

    function draw(box) {
        var options = box.deepbench, width = box.clientWidth, height = box.clientHeight;
        if (!width || !height) { return; }
        var all = drawable(options), named = all.filter(function (series) { return series.label; });
        var longest = Math.max.apply(null, [0].concat(named.map(function (series) { return series.label.length; })));
        var letters = Math.max(6, Math.min(longest, Math.floor(MOST_ROOM * width / LETTER)));
        var bottom = height - FOOT - (options.x.title ? TITLE : 0), right = width - (longest ? letters * LETTER + 12 : EDGE);
        var y = d.axis_between(options.y, values(all, 'y'), 'y', bottom, TOP);
        var left = 14 + LETTER * Math.max.apply(null, y.ticks.map(function (tick) { return tick.text.length; }));
        var x = d.axis_between(options.x, values(all, 'x'), 'x', left + EDGE, right - EDGE);
        box.points = all.map(function (series) {
            return series.points.filter(function (point) { return point.kind; }).map(function (point) {
                return {point: point, series: series, at: [x.at(point.x), y.at(point.y)]};
            });
        }).filter(function (some) { return some.length; });
        box.querySelector('svg').replaceWith(svg('svg', {viewBox: '0 0 ' + width + ' ' + height, width: width, height: height, 'aria-hidden': 'true'},
            axes(options, x, y, left, right, bottom), all.map(function (series) { return drawn(series, x, y); }),
            marks(all.length ? options.marks || [] : [], x, y, left, right), end_labels(named, x, y, right - EDGE, bottom, letters)));
        point_at(box, null);
    }

    /* Show what a point says, and make its line stand out; null shows none. */
    function point_at(box, found) {
        var tip = box.querySelector('.tip');
        box.current = found;
        box.classList.toggle('pointed', Boolean(found));
        box.querySelectorAll('.here').forEach(function (part) { part.classList.remove('here'); });
        box.querySelectorAll('.cursor').forEach(function (part) { part.remove(); });
        tip.hidden = !found;
        if (!found) { return; }
        Array.from(box.querySelectorAll('.series')).filter(function (part) { return part.dataset.label === found.series.label; })
            .forEach(function (part) { part.classList.add('here'); });
        box.querySelector('svg').append(svg('circle', {class: 'cursor', cx: found.at[0], cy: found.at[1], r: 8}));
        d.show_tip(tip, box, found.at, found.point.said);
    }

    function nearest(box, x, y) {
        var best = null, far = NEAR;
        box.points.flat().forEach(function (each) {
            var distance = Math.hypot(each.at[0] - x, each.at[1] - y);
            if (distance < far) { best = each; far = distance; }
        });
        return best;
    }

    function listen(box) {
        box.addEventListener('pointermove', function (event) {
            var edge = box.getBoundingClientRect(), found = nearest(box, event.clientX - edge.left, event.clientY - edge.top);
            if (found !== box.current) { point_at(box, found); }
        });
        box.addEventListener('pointerleave', function () { point_at(box, null); });
        box.addEventListener('blur', function () { point_at(box, null); });
        box.addEventListener('keydown', function (event) {
            if (event.key === 'Escape') { point_at(box, null); }
            if (!d.asks_for_point(event)) { return; }
            event.preventDefault();
            point_at(box, d.next_point(box.points, box.current, event.key));
        });
    }

    var resized = new ResizeObserver(function (entries) {
        entries.forEach(function (entry) {
            d.guarded(function () { draw(entry.target); })(entry.target.parentNode);
        });
    });

    d.when_printed(function () { document.querySelectorAll('.plot').forEach(function (box) { d.guarded(function () { draw(box); })(box.parentNode); }); });

    function plot(place, options) {
        var box = place.querySelector('.plot');
        if (!box) {
            box = el('div', {class: 'plot', tabindex: 0, role: 'group', 'aria-roledescription': 'chart'}, svg('svg'), el('div', {class: 'tip', role: 'status', hidden: true}));
            place.replaceChildren(box, el('p', {class: 'key alike'}), el('div', {class: 'tools'}, d.picture_buttons(function () { return box; }, function () { return box.deepbench; })));
            place.classList.add('chart');
            listen(box);
        }
        box.deepbench = options;
        var note = place.querySelector('.alike');
        note.textContent = too_many(options.series);
        note.hidden = !note.textContent;
        box.setAttribute('aria-label', options.described + '. The arrow keys lead from point to point.');
        if (box.points) {
            draw(box);
        } else {
            box.points = [];
            resized.observe(box);  /* draws once the page is laid out, which need not be done twice then */
        }
    }

    /* The meaning of shapes: pairs of a shape's name and its text. */
    function shapes_key(pairs) {
        return el('p', {class: 'key shapes'}, pairs.map(function (pair) {
            return el('span', {}, svg('svg', {viewBox: '0 0 16 24', width: 16, height: 24, 'aria-hidden': 'true'}, SHAPES[pair[0]](8, 12)), pair[1]);
        }));
    }

    Object.assign(deepbench, {plot: d.guarded(plot), shapes_key: shapes_key});
})();
