/* The start page: pictures that answer at a glance (index_pictures.js), and below them all machines, the latest changes and the
   speed of each family over the releases. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };
    var MOST_SHARES = 7;  /* columns of families in the table of machines */

    /* Old addresses of asv's pages begin with this page. */
    if (/^#(\/|\w+\.)/.test(location.hash)) {
        location.replace('benchmarks.html' + location.hash);
        return;
    }

    function draw_pictures(catalogue, start, wanted) {
        d.index_pictures.fastest(at('fastest'), start, catalogue, wanted);
        d.index_pictures.frameworks(at('which'), start, catalogue, wanted);
    }

    /* Fill a place by `draw()`; broken data are reported there. */
    function part(id, draw) { d.guarded(draw)(at(id)); }

    /* For each release behind a family's figure: the number of kernels and the command that measures them. */
    function sources(catalogue, machine) {
        return function (family) {
            return family.sources.map(function (source) {
                var release = catalogue.releases[source[0]], count = source[1];
                var one = {precision: family.precision, selections: source[2], unusual: family.unusual};
                return el('div', {}, catalogue.headings[family.family] + ', ' + d.counted(count, 'kernel') + ' of ' + release.name + ':',
                    d.command_block(d.families_command(machine, release, [one])));
            });
        };
    }

    /* Machines without results at the chosen precision, each with the results that it has. */
    function others(catalogue, start, shown, kind, precision) {
        var left = catalogue.machines.filter(function (machine) {
            var fits = !kind || (kind === 'measured') === machine.measured;
            return fits && !shown.has(machine.name) && Object.keys(machine.families).length;
        });
        at('others').replaceChildren.apply(at('others'), left.length ? ['Machines without ' + d.words(precision) + ' results under the usual conditions: ']
            .concat(left.flatMap(function (machine, place) {
                var own = start.standings.filter(function (one) { return one.machine === machine.name; });
                var having = d.distinct(own.map(function (one) { return catalogue.headings[one.family] + ' at ' + d.words(one.precision); }));
                return [place ? '; ' : '', el('a', {href: 'machine.html' + d.address({machine: machine.name})}, machine.name),
                    ' (' + (having.length ? having.join(', ')
                        : Object.keys(machine.families).map(function (family) { return catalogue.headings[family]; }).join(', ') + ' under other conditions') + ')'];
            }), '.') : []);
    }

    /* The families that have a column in the table: those that most rows have, in their order. */
    function common(families, groups) {
        function count(family) { return groups.filter(function (row) { return row.families[family]; }).length; }
        var most = families.slice().sort(function (a, b) { return count(b) - count(a); }).slice(0, MOST_SHARES);
        return families.filter(function (family) { return most.includes(family); });
    }

    /* The column of a family's share of the roofline. */
    function share_column(catalogue) {
        return function (family) {
            return {title: d.words(family), head: catalogue.headings[family], unit: 'share', number: true, note: 'median share of the roofline', value: function (row) {
                return row.families[family] ? row.families[family].of_roof : null;
            }, text: function (value) { return d.percent(value, 2); }};
        };
    }

    /* The machines at the chosen precision, else at the usual one where none has results at it. */
    function machines_table(catalogue, start, views) {
        var wanted = {kind: at('kind').value, precision: d.index_pictures.usual_precision(
            d.distinct(start.standings.map(function (one) { return one.precision; })), at('precision').value)};
        at('machines-title').textContent = 'Machines at ' + d.words(wanted.precision || at('precision').value);
        var families = catalogue.families.filter(function (family) {
            return start.standings.some(function (one) { return one.family === family && one.precision === wanted.precision; });
        });
        var by_name = {};
        catalogue.machines.forEach(function (machine) { by_name[machine.name] = machine; });
        var groups = {};
        start.standings.forEach(function (one) {
            var published = catalogue.releases[one.newest].published;
            if (one.precision !== wanted.precision || wanted.kind === (published ? 'measured' : 'published')) { return; }
            var device = d.device(one.unusual), key = [one.machine, one.framework, device].join('\n');
            groups[key] = groups[key] || {machine: by_name[one.machine], framework: one.framework, device: device, conditions: one.unusual.device, families: {}, kernels: 0,
                newest: 0, headline: 0};
            var group = groups[key];
            group.families[one.family] = one;
            group.kernels += one.kernels;
            group.headline += one.headline;
            group.newest = Math.max(group.newest, one.newest);
        });
        var shown = common(families, Object.values(groups)), rest = families.filter(function (family) { return !shown.includes(family); });
        at('shares').textContent = rest.length ? 'The table has the ' + shown.length + ' families that most machines measured. The shares of ' + rest.length +
            ' more are in the CSV, and on the page of each machine.' : '';
        var all = Object.values(start.headline).reduce(function (a, b) { return a + b; }, 0);
        d.table(at('machines'), Object.assign(views.of('machines'), {
            name: 'machines',
            title: 'Machines',
            cards: true,
            rows: Object.values(groups).sort(function (a, b) { return b.newest - a.newest; }),
            detail: function (row) {
                return el('div', {}, el('p', {}, 'Each share is the median over the kernels of a family, with the newest time of each kernel. These commands ' +
                    'measure the kernels again, by the release of their times:'), Object.values(row.families).flatMap(sources(catalogue, row.machine)));
            },
            columns: [
                {title: 'machine', value: function (row) { return row.machine.name; }, cell: function (row) {
                    return d.marked_name(el('a', {href: 'machine.html' + d.address({machine: row.machine.name, framework: row.framework,
                        precision: wanted.precision, conditions: row.conditions})}, row.machine.name), row.machine);
                }},
                {title: 'newest', value: function (row) { return catalogue.releases[row.newest].name; }},
                {title: 'device', value: function (row) { return row.device; }}
            ].concat(shown.map(share_column(catalogue)), [
                {title: 'kernels', number: true, note: 'kernels with a steady time at this precision', value: function (row) { return row.kernels; }},
                {title: 'headline', head: 'headline, of ' + all, number: true, value: function (row) { return row.headline; }},
                {title: 'released', day: true, value: function (row) { return catalogue.releases[row.newest].date; }},
                {title: 'processor', value: function (row) { return d.processor(row.machine); }}
            ]),
            taken: rest.map(share_column(catalogue))
        }));
        others(catalogue, start, new Set(Object.values(groups).map(function (row) { return row.machine.name; })), wanted.kind, wanted.precision);
    }

    /* The changed kernel, with its id small below; for a group, an element that opens to show all its kernels. */
    function what(catalogue) {
        function named(line, more) {
            return [el('a', {href: 'timeline.html' + d.address(line.at)}, d.index_pictures.kernel(line, catalogue.title_prefixes)), el('br'),
                el('small', {}, [line.name, d.words(line.at.set)].join(', ') + more)];
        }
        return function (row) {
            if (row.scope === 'kernel') { return el('span', {}, named(row.lines[0], '')); }
            return el('details', {}, el('summary', {}, d.index_pictures.changed_name(row, catalogue) + ': ' + d.counted(row.lines.length, 'kernel')),
                el('ul', {}, row.lines.map(function (line) { return el('li', {}, named(line, ': ' + d.factor(line.ratio))); })));
        };
    }

    function latest(catalogue, start, views) {
        at('judged').textContent = 'A line is one kernel over the releases of a framework. ' + d.grouped(start.several) + ' of ' +
            d.counted(start.lines, 'line') + ' have two releases or more, and ' + d.grouped(start.judged) +
            ' of these are long enough to judge. ' + d.counted(start.changes, 'change') + (start.changes === 1 ? ' is' : ' are') +
            ' larger than the noise.';
        if (!start.latest.length) { return; }
        d.table(at('latest'), Object.assign(views.of('latest'), {
            name: 'latest-changes',
            title: 'Latest changes',
            cards: true,
            rows: start.latest,
            taken: ['framework', 'family', 'set', 'precision'].map(function (name) {
                return {title: name, value: function (row) {
                    return d.distinct(row.lines.map(function (line) { return d.words(line.at[name]); })).join(', ');
                }};
            }).concat({title: 'kernels watched', value: function (row) { return row.watched; }}),
            detail: function (row) {
                return d.command_block(d.confirm_command(row.machine, catalogue.releases[row.after].name));
            },
            columns: [
                {title: 'release', value: function (row) { return catalogue.releases[row.after].name; },
                    cell: function (row) {
                        var name = catalogue.releases[row.after].name;
                        return el('a', {href: 'release.html' + d.address({release: name, machine: row.machine})}, name);
                    }},
                {title: 'released', value: function (row) { return catalogue.releases[row.after].date; }},
                {title: 'machine', value: function (row) { return row.machine; }, cell: function (row) {
                    return d.marked_name(row.machine, catalogue.machines.find(function (machine) { return machine.name === row.machine; }));
                }},
                {title: 'verdict', value: function (row) { return row.slower ? 'slower' : 'faster'; },
                    cell: function (row) {
                        var kind = row.slower ? 'slower' : 'faster';
                        return el('strong', {class: kind}, kind);
                    }},
                {title: 'level', head: 'change', style: 'factor', unit: 'ratio', number: true, value: function (row) { return row.ratio; }, text: function (ratio) { return d.factor(ratio); }},
                {title: 'what', head: 'changed kernels', long: true, value: function (row) { return d.index_pictures.changed_name(row, catalogue); }, cell: what(catalogue)},
                {title: 'kernels', number: true, value: function (row) { return row.lines.length; },
                    text: function (value, row) { return value + ' of ' + row.watched; }}
            ]
        }));
        at('latest').append(el('p', {}, el('a', {href: 'verdicts.html'}, 'List of changes, with intervals and noise')));
    }

    /* A family's heading, with the device where the figures are of several devices. */
    function family_name(one, all, catalogue) {
        var several = d.distinct(all.map(function (each) { return each.unusual.device; })).length > 1;
        return catalogue.headings[one.family] + (several ? ' on ' + d.device(one.unusual) : '');
    }

    function speed(catalogue, start, views) {
        var machine = at('machine').value, framework = at('framework').value;
        var own = start.speeds.filter(function (one) { return one.machine === machine && one.framework === framework; });
        var precision = d.index_pictures.usual_precision(d.distinct(own.map(function (one) { return one.precision; })), at('precision').value);
        var found = own.filter(function (one) { return one.precision === precision; });
        at('speed-title').textContent = 'Speed of each family over the releases' + (found.length ? ': ' + [framework, d.words(precision), machine].join(', ') : '');
        if (!found.length) {
            at('speed').replaceChildren();
            at('speed').append(el('p', {}, 'No family has two releases that measured the same kernels.'));
            at('speed-table').replaceChildren();
            return;
        }
        if (!at('speed').querySelector('.plot')) { at('speed').replaceChildren(); }
        var releases = d.distinct(found.flatMap(function (one) { return one.at; })).sort(function (a, b) { return a - b; });
        var devices = d.distinct(found.map(function (one) { return one.unusual.device; }));
        function version(p) { return catalogue.releases[p].version; }
        d.plot(at('speed'), {
            name: 'speed-' + machine + '-' + framework,
            title: 'Speed of each family over the releases, ' + d.words(precision),
            sides: framework + ' on ' + machine + ', relative to the first release',
            described: 'Speed of ' + framework + ' on ' + machine + ' by family over its releases, as in the table below',
            x: {type: 'names', names: releases.map(version), title: framework},
            y: {type: 'linear', title: 'speed over that of the first release, higher is faster', label: function (value) { return d.digits(value, 3) + '\u00d7'; }},
            series: found.map(function (one) {
                var family = family_name(one, found, catalogue), look = d.look(catalogue.families, one.family), device = devices.indexOf(one.unusual.device);
                return {label: family, colour: look.colour, dash: (look.mark + device) % d.COLOURS, points: one.values.map(function (value, i) {
                    return {x: version(one.at[i]), y: value, kind: 'filled', said: [family + ', ' + catalogue.releases[one.at[i]].name,
                        d.factor_than(1 / value, 'the first release'), d.counted(one.kernels[i], 'kernel')]};
                })};
            })
        });
        d.table(at('speed-table'), Object.assign(views.of('speed'), {
            name: 'speed',
            cards: true,
            title: 'Speed of each family over the releases',
            rows: releases,
            detail: function (p) {
                var release = catalogue.releases[p], own = found.filter(function (one) { return one.at.includes(p); });
                return el('div', {}, el('p', {}, 'These commands measure the kernels again with this release. The first release is measured in the same way.'),
                    devices.filter(function (device) { return own.some(function (one) { return one.unusual.device === device; }); }).map(function (device) {
                        return d.command_block(d.families_command({name: machine}, release,
                            own.filter(function (one) { return one.unusual.device === device; })));
                    }));
            },
            columns: [
                {title: 'release', value: function (p) { return catalogue.releases[p].name; }},
                {title: 'released', value: function (p) { return catalogue.releases[p].date; }}
            ].concat(found.map(function (one) {
                return {title: family_name(one, found, catalogue), number: true, value: function (p) {
                    var place = one.at.indexOf(p);
                    return place < 0 ? null : one.values[place];
                }, text: function (value) { return d.factor(1 / value); }};
            }))
        }));
    }

    d.page(function (catalogue) {
        return d.load('data/index').then(function (start) {
            if (!start.lines) {
                d.instead('There are no results yet. Measure some with "asv run", then run "asv publish" again.');
                return;
            }
            at('lead').textContent = d.grouped(start.points) + ' measured and published times of kernels on ' + d.counted(catalogue.machines.length, 'machine') +
                ', with ' + d.counted(catalogue.releases.length, 'release') + '.';
            var asked = d.asked(), CHOICES = ['family', 'precision', 'machine', 'framework', 'kind'];
            var views = d.table_views(['machines', 'latest', 'speed'], remember);
            var longest = start.speeds.slice().sort(function (a, b) {
                return (b.framework !== 'published') - (a.framework !== 'published') || b.at.length - a.at.length;
            })[0] || {};
            offer_all();
            d.index_pictures.changes(at('changed'), start, catalogue);
            d.index_pictures.speeds(at('since'), start, catalogue, function () { at('speed-title').scrollIntoView(); });
            part('latest', function () { latest(catalogue, start, views); });
            shown();
            CHOICES.forEach(function (id) {
                at(id).onchange = function () {
                    if (id === 'machine') { offer_frameworks(null); }
                    shown();
                    remember();
                };
            });

            function remember(typing) {
                d.remember(Object.assign(Object.fromEntries(CHOICES.map(function (id) { return [id, at(id).value]; })), views.fields()), typing);
            }

            function offer_all() {
                var compared = Object.keys(start.ratios), all = d.distinct(compared.concat(start.speeds.map(function (one) { return one.machine; }))).sort();
                var most = compared.sort(function (a, b) { return start.ratios[b].length - start.ratios[a].length; })[0];
                d.offer(at('family'), d.distinct(start.fastest.map(function (one) { return one.family; })).map(function (family) {
                    return [family, catalogue.headings[family]];
                }), null, asked.get('family'));
                d.offer(at('precision'), d.distinct([start.fastest, start.standings, start.speeds].flat().map(function (one) { return one.precision; })).sort(), 'float32',
                    asked.get('precision'));
                d.offer(at('machine'), all.map(function (name) { return [name, name]; }), all.includes(catalogue.here) ? catalogue.here : most || longest.machine, asked.get('machine'));
                d.choose(at('kind'), asked.get('kind'));
                offer_frameworks(asked.get('framework'));
            }

            function offer_frameworks(wanted) {
                var own = start.speeds.filter(function (one) { return one.machine === at('machine').value; });
                var most = own.slice().sort(function (a, b) { return (b.framework !== 'published') - (a.framework !== 'published') || b.at.length - a.at.length; })[0];
                d.offer(at('framework'), d.distinct(own.map(function (one) { return one.framework; })), most && most.framework, wanted);
            }

            function shown() {
                draw_pictures(catalogue, start, {family: at('family').value, precision: at('precision').value, machine: at('machine').value});
                part('machines', function () { machines_table(catalogue, start, views); });
                part('speed', function () { speed(catalogue, start, views); });
            }
        });
    });
})();
