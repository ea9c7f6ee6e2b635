/* The pictures of a comparison: a forest plot of families, the curve of ratios, and sides by families as a heat table. */
'use strict';

(function () {
    var d = deepbench, el = d.el, svg = d.svg;
    var MOST = 25;  /* problems shown at first */
    var HEIGHT = 190, LEFT = 52, RIGHT = 16, TOP = 26, FOOT = 26;

    /* A row for each family and precision: the mean's interval as whiskers, all kernels' range as a thin line. */
    function forest(place, catalogue, rows, labels, address) {
        place.replaceChildren(d.dots(rows.map(function (row) {
            return {name: catalogue.headings[row.family], id: d.words(row.precision), href: address(row), key: ['family', row.family, row.precision].join('-'), ratio: row.ratio, low: row.low, high: row.high,
                from: row.from, to: row.to, kind: row.low === null ? 'unclear' : d.ratio_side(row.low, row.high),
                note: d.counted(row.shared, 'shared kernel')};
        }), ['family', labels.other + ' over ' + labels.first, 'rests on']), saved(place, '.dots', 'families', 'Times of ' + labels.other + ' over those of ' + labels.first, 'geometric mean of each family, its interval of 95 %, and the range of the kernels'));
    }

    /* Buttons that save a part of `place` as a picture. */
    function saved(place, part, name, title, sides) {
        return el('div', {class: 'tools'}, d.picture_buttons(function () { return place.querySelector(part); }, function () {
            return {name: ['compare', name].join('-'), title: title, sides: sides};
        }));
    }

    /* The share of kernels whose ratio is at most the one on the logarithmic axis. `ratios` are sorted. */
    function curve(ratios, labels, width) {
        var ends = d.ratio_reach(ratios), x = d.scale(ends[0], ends[1], LEFT, width - RIGHT), y = d.scale(0, 1, HEIGHT - FOOT, TOP), one = x(0);
        var points = [[LEFT, y(0)]], n = ratios.length;
        ratios.forEach(function (ratio, place) {
            points.push([x(Math.log(ratio)), y(place / n)], [x(Math.log(ratio)), y((place + 1) / n)]);
        });
        points.push([width - RIGHT, y(1)]);
        var faster = ratios.filter(function (ratio) { return d.direction(ratio, 3) === 'faster'; }).length;
        var slower = ratios.filter(function (ratio) { return d.direction(ratio, 3) === 'slower'; }).length;
        function text(kind, left, top, anchor, words) { return svg('text', {class: kind, x: left, y: top, 'text-anchor': anchor}, words); }
        return svg('svg', {viewBox: '0 0 ' + width + ' ' + HEIGHT, class: 'curve', role: 'img', 'aria-label': said(faster, slower, n, labels)},
            svg('rect', {class: 'faster', x: LEFT, y: TOP, width: one - LEFT, height: HEIGHT - FOOT - TOP}),
            svg('rect', {class: 'slower', x: one, y: TOP, width: width - RIGHT - one, height: HEIGHT - FOOT - TOP}),
            [0, 0.5, 1].flatMap(function (share) {
                return [svg('path', {class: 'grid', d: d.path([[LEFT, y(share)], [width - RIGHT, y(share)]])}), text('quiet', LEFT - 6, y(share) + 4, 'end', 100 * share + ' %')];
            }),
            d.ratio_marks(ends, 60 / width).map(function (log) { return text('quiet', x(log), HEIGHT - 8, 'middle', d.ratio_mark_text(log)); }),
            svg('path', {class: 'one', d: d.path([[one, TOP], [one, HEIGHT - FOOT]])}),
            svg('path', {class: 'line', d: d.path(points)}),
            text('', LEFT, 16, 'start', '\u2190 ' + faster + ' faster'), text('', width - RIGHT, 16, 'end', slower + ' slower \u2192'));
    }

    function said(faster, slower, n, labels) {
        return 'Of ' + d.counted(n, 'kernel') + ' ' + labels.other + ' is faster at ' + faster + ' and slower at ' + slower + ' than ' + labels.first;
    }

    function distribution(place, own, labels, what) {
        var width = Math.max(320, Math.min(960, place.clientWidth || 640));
        place.replaceChildren(el('figure', {}, curve(own.map(function (change) { return change.ratio; }), labels, width),
            el('figcaption', {}, 'The share of the ' + d.counted(own.length, 'kernel') + ' of ' + what + ' whose ratio, the time of ' + labels.other + ' over that of ' + labels.first +
                ', is at most the one below. The steeper the curve, the more alike the kernels.')), saved(place, '.curve', 'kernels', 'Times of ' + labels.other + ' over those of ' + labels.first, what));
    }

    /* Sides by families, at the chosen precision: how much slower or faster than the first side. */
    function heat(place, catalogue, rows, sides, names, precision, address) {
        var own = rows.filter(function (row) { return row.precision === precision; });
        var families = d.distinct(own.map(function (row) { return row.family; }));
        place.hidden = sides.length < 3 || !families.length;
        if (place.hidden) { return; }
        place.replaceChildren(
            el('h2', {}, 'All sides compared with ' + names[0], ' ', el('small', {}, d.words(precision))),
            el('div', {class: 'sideways', tabindex: 0, role: 'group', 'aria-label': 'Sides by families'}, el('table', {class: 'matrix'},
                el('thead', {}, el('tr', {}, el('td'), families.map(function (family) { return el('th', {scope: 'col'}, catalogue.headings[family]); }))),
                el('tbody', {}, sides.slice(1).map(function (side, at) {
                    return el('tr', {}, el('th', {scope: 'row'}, names[at + 1]), families.map(function (family) {
                        var row = own.find(function (each) { return each.other === side && each.family === family; });
                        return row ? el('td', {}, heat_cell(catalogue, row, address(row), ['side', at + 1, row.family].join('-'))) : el('td', {class: 'none'}, 'none shared');
                    }));
                })))),
            d.key([['gain', 'faster than ' + names[0]], ['same', 'no clear difference, or a single kernel'], ['slow', 'slower']]),
            saved(place, '.matrix', 'sides', 'All sides compared with ' + names[0] + ', ' + d.words(precision), names.slice(1).join('; ')));
    }

    function heat_cell(catalogue, row, href, id) {
        var side = row.low === null ? 'unclear' : d.ratio_side(row.low, row.high);
        return d.tint(el('a', {class: 'cell', href: href, id: id}, el('small', {class: 'which'}, catalogue.headings[row.family]), el('b', {}, d.factor(row.ratio, 2)),
            el('small', {}, d.counted(row.shared, 'kernel'))), {slower: 'slow', faster: 'gain', unclear: 'same'}[side], row.ratio);
    }

    /* The time of each problem at each release over its first steady one, as a heat table of `some` lines; `about` is that of a picture. */
    function releases(place, catalogue, some, about) {
        var places = d.distinct(some.flatMap(function (line) { return line.at; })).sort(function (a, b) { return a - b; });
        function shown(lines) {
            return lines.map(function (line) {
                return el('tr', {}, el('th', {scope: 'row'}, line.problem.title || line.problem.id, ' ', el('small', {}, [line.problem.title ? d.kernel_name(line) : d.kernel_name(line).slice(line.problem.id.length + 2),
                    d.words(line.set), line.device].filter(Boolean).join(', '))), places.map(function (release) { return release_cell(line, line.at.indexOf(release)); }));
            });
        }
        var body = el('tbody', {}, shown(some.slice(0, MOST)));
        var more = d.more_button(MOST, some.length, 'Show all ' + some.length, function () {
            body.append.apply(body, shown(some.slice(MOST)));
            return body.rows[MOST];
        });
        var table = el('table', {class: 'heat fine'}, el('thead', {}, el('tr', {}, el('td'), places.map(function (release) {
            return el('th', {scope: 'col'}, catalogue.releases[release].version);
        }))), body);
        place.replaceChildren(el('div', {class: 'sideways tall', tabindex: 0, role: 'group', 'aria-label': 'Problems and releases'}, table), more,
            el('div', {class: 'tools'}, d.picture_buttons(function () { return table; }, function () { return about; })));
    }

    function release_cell(line, at) {
        if (at < 0) { return el('td', {class: 'none'}, '\u2013'); }
        var base = d.base_place(line), ratio = line.seconds[at] / line.seconds[base], noise = at !== base && d.within_noise(line, ratio);
        if (!d.is_steady(line, at)) { return el('td', {class: 'none', title: d.seconds(line.seconds[at]) + ', ' + d.unsteady_reason(line, at)}, '(' + d.digits(ratio, 2) + '\u00d7)'); }
        var said = d.seconds(line.seconds[at]) + (at === base ? ', the first steady time' : ', ' + d.factor_than(ratio, line.releases[base].name)) + (noise ? ', within the noise' : '');
        return d.tint(el('td', {title: said}, d.digits(ratio, 2) + '\u00d7', d.said(noise ? 'within the noise' : '')), noise || !d.direction(ratio, 2) ? 'same' : ratio > 1 ? 'slow' : 'gain', ratio);
    }

    deepbench.comparison = {forest: d.guarded(forest), distribution: d.guarded(distribution), heat: d.guarded(heat), releases: d.guarded(releases)};
})();
