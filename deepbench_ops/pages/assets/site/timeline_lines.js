/* The lines of a timeline as series of a chart (plot.js): looks, labels, points, changes. */
'use strict';

(function () {
    var d = deepbench;
    var UP = {
        seconds: {title: 'time, lower is faster', of: function (line, seconds) { return seconds; }, label: d.seconds},
        rate: {title: 'rate, higher is faster', of: function (line, seconds) { return seconds && (line.flops || line.bytes) / seconds; },
            label: function (value, line) { return d.scaled(value, line.flops ? 'FLOP/s' : 'B/s'); }},
        relative: {title: 'time over the first steady one, lower is faster', of: function (line, seconds) { return seconds && seconds / line.seconds[d.base_place(line)]; },
            label: function (value) { return d.digits(value, 3) + '\u00d7'; }}
    };
    var KINDS = [
        ['filled', 'measured together with other releases'], ['hollow', 'measured on its own, on another day'], ['square', 'published figure'],
        ['crossed', 'unsteady or in conflict: the table says why'], ['slower', 'lasting change, slower'], ['faster', 'lasting change, faster'],
        ['tick', 'another implementation ran']
    ];

    function kind(line, at) {
        if (line.unsteady && line.unsteady[at] || line.conflict && line.conflict[at].length) { return 'crossed'; }
        return line.releases[at].published ? 'square' : line.ensemble && line.ensemble[at] ? 'filled' : 'hollow';
    }

    /* The library code that computed a point, from its notes; '' where they do not name it. */
    function implementation(line, at) {
        var own = line.notes && line.notes[at] || {};
        return own.implementation || own.primitive || '';
    }

    /* The implementation before that of a point, where another one ran; else ''. */
    function switched_from(line, at) {
        var own = implementation(line, at), before = '';
        for (var place = at - 1; place >= 0 && !before; place -= 1) { before = implementation(line, place); }
        return own && before && own !== before ? before : '';
    }

    function variant(line) {
        return line.framework + (d.conditions(line) ? ' (' + d.conditions(line) + ')' : '') + (line.state ? ', ' + line.state : '');
    }

    function label(line) {
        return line.machine.name + ', ' + variant(line);
    }

    /* The label of each line: only the parts that differ between them. */
    function short_labels(lines) {
        var one_machine = d.distinct(lines.map(function (line) { return line.machine.name; })).length === 1;
        var one_variant = d.distinct(lines.map(variant)).length === 1;
        return lines.map(function (line) { return one_machine ? variant(line) : one_variant ? line.machine.name : label(line); });
    }

    /* Hue for the machine, where there are several, else for the framework; dashes for the framework and its conditions. */
    function looks(lines, frameworks) {
        var machines = d.distinct(lines.map(function (line) { return line.machine.name; })), variants = d.distinct(lines.map(variant)).sort();
        return lines.map(function (line) {
            return {colour: machines.length > 1 ? machines.indexOf(line.machine.name) : d.look(frameworks, line.framework).colour, dash: variants.indexOf(variant(line))};
        });
    }

    function said(line, at, before) {
        var release = line.releases[at];
        return [label(line) + d.unsigned_words(line.machine), release.name + ', ' + release.date, d.seconds(line.seconds[at]) + (d.interval_text(line, at) ? ' (' + d.interval_text(line, at) + ')' : ''),
            d.rate_text(line, at) + (line.roof ? ', ' + d.percent(d.of_roof(line, at)) + ' of the roof' : ''),
            change_of(line, at) && 'lasting change: ' + d.change.apply(null, change_of(line, at).slice(1, 4)),
            before && 'implementation: ' + implementation(line, at) + ' (before: ' + before + ')'].filter(Boolean);
    }

    function change_of(line, at) {
        return (line.changes || []).find(function (each) { return each[0] === line.at[at]; });
    }

    /* The series and marks of `lines` as {series, marks}. settings: x and y as the page's menus name them; frameworks: those of the catalogue. */
    function series(lines, settings, frameworks) {
        var up = UP[settings.y], labels = short_labels(lines), own = looks(lines, frameworks);
        function x(release) { return settings.x === 'date' ? release.date : release.name; }
        return {
            series: lines.map(function (line, place) {
                return Object.assign({label: labels[place], points: line.seconds.map(function (seconds, at) {
                    var before = switched_from(line, at);
                    return {x: x(line.releases[at]), y: up.of(line, seconds), kind: kind(line, at), said: said(line, at, before), changed: before,
                        low: line.low && line.low[at] && up.of(line, line.low[at]), high: line.high && line.high[at] && up.of(line, line.high[at])};
                })}, own[place]);
            }),
            marks: lines.flatMap(function (line) {
                return (line.changes || []).filter(function (change) { return line.at.includes(change[0]); }).map(function (change) {
                    var at = line.at.indexOf(change[0]);
                    return {x: x(line.releases[at]), y: up.of(line, line.seconds[at]), kind: change[1] > 1 ? 'slower' : 'faster', text: d.factor(change[1]), size: Math.abs(Math.log(change[1]))};
                });
            }).sort(function (a, b) { return b.size - a.size; })
        };
    }

    /* The meaning of the shapes that occur. */
    function key(drawn) {
        var found = new Set(drawn.series.flatMap(function (one) { return one.points.flatMap(function (point) { return [point.kind, point.changed && 'tick']; }); })
            .concat(drawn.marks.map(function (mark) { return mark.kind; })));
        var bands = drawn.series.some(function (one) { return one.points.some(function (point) { return point.low; }); });
        return [d.shapes_key(KINDS.filter(function (pair) { return found.has(pair[0]); })),
            d.el('p', {class: 'key'}, bands ? 'Bands are intervals of 99 %; they are interrupted where a time has none.' : '')];
    }

    /* `line` with its points since a year only; null where it has none. */
    function since(line, year) {
        var places = line.releases.map(function (release, at) { return at; }).filter(function (at) { return line.releases[at].date >= year; });
        if (!places.length) { return null; }
        var short = Object.assign({}, line);
        ['at', 'releases', 'seconds', 'low', 'high', 'without', 'unsteady', 'conflict', 'ensemble', 'states', 'threads', 'notes'].forEach(function (name) {
            if (line[name]) { short[name] = places.map(function (at) { return line[name][at]; }); }
        });
        return short;
    }

    deepbench.timeline = {UP: UP, label: label, series: series, key: key, since: since, change_of: change_of};
})();
