/* One release of a framework on a machine, compared with the release before it or with any other, also of another framework or
   on another machine: counts and means of slower and faster kernels, ratios by family, new software, and every kernel with its
   verdict. */
'use strict';

(function () {
    var d = deepbench, el = d.el;
    var at = function (id) { return document.getElementById(id); };
    var MOST_SWITCHES = 5, LONGEST = 60;

    /* SUMMARY */

    /* A button for each verdict, with the count and the mean of its kernels; a pressed one shows these kernels only. */
    function tiles(rows, one, chosen, choose) {
        return el('div', {class: 'tiles', role: 'group', 'aria-label': 'Kernels by verdict'}, d.VERDICTS.map(function (verdict) {
            var own = rows.filter(function (row) { return row.verdict === verdict; });
            var mean = own.length && d.mean_ratio(own.map(function (row) { return row.ratio; }));
            var said = !own.length ? 'none' : d.factor(mean) + (own.length > 1 ? ', geometric mean' : '');
            return el('button', {type: 'button', id: 'tile-' + verdict, class: 'tile ' + verdict, disabled: !own.length, 'aria-pressed': String(chosen === verdict),
                click: function () { choose(chosen === verdict ? '' : verdict); }},
            el('strong', {}, String(own.length)), ' ', el('span', {}, named(verdict, one)), el('small', {}, said));
        }));
    }

    /* A verdict in words: kernels of two frameworks or machines have not changed. */
    function named(verdict, one) { return one.sides && verdict === 'unchanged' ? 'alike' : verdict; }

    /* The kernels of all verdicts in one sentence. */
    function headline(rows, one) {
        var judged = rows.filter(function (row) { return row.verdict !== 'unjudged'; });
        function mean(some) { return d.factor(d.mean_ratio(some.map(function (row) { return row.ratio; }))) + '.'; }
        var said = judged.length ? 'geometric mean of the ' + judged.length + ' judged: ' + mean(judged)
            : 'none can be judged.' + (one.sides ? ' Geometric mean of all: ' + mean(rows) : '');
        return pair(one.after.name + ' (' + one.after.date + ')', one.usual, one, 'compared with') + ': ' + d.counted(rows.length, 'kernel') + ', ' + said;
    }

    /* Both sides in words, with each machine where there are two. */
    function pair(after, before, one, between) {
        var machine = ' on ' + one.machine.name;
        return one.base === one.machine ? after + ' ' + between + ' ' + before + machine : after + machine + ' ' + between + ' ' + before + ' on ' + one.base.name;
    }

    /* Says that two frameworks or machines are compared, which is no regression; '' for two releases of a framework. */
    function caution(one) {
        var same = one.before && one.before.framework === one.after.framework, apart = one.base !== one.machine;
        return one.sides ? 'This compares two ' + (!apart ? 'frameworks, not two releases of one' : same ? 'machines' : 'machines with two frameworks') +
            ': a slower kernel is no regression.' : '';
    }

    function group_of(row) { return d.group_of(row.line); }

    /* The rows by family and precision; groups with the largest change come first. */
    function groups_of(rows) {
        var groups = {};
        rows.forEach(function (row) {
            var key = group_of(row), plain = row.line.precision === 'float32';
            groups[key] = groups[key] || {key: key, label: row.line.heading + (plain ? '' : ' ' + d.words(row.line.precision)), rows: []};
            groups[key].rows.push(row);
        });
        return Object.values(groups).map(function (group) {
            return Object.assign(group, {noise: d.middle(group.rows.map(function (row) { return row.noise; }))});
        });
    }

    /* SOFTWARE */

    function cut(text) { return text.length > LONGEST ? text.slice(0, LONGEST - 1) + '\u2026' : text || 'not recorded'; }

    /* The words of a long text that `other` does not have; a short text as it is. */
    function differing(text, other) {
        var others = new Set(other.split(/\s+/)), own = text.split(/\s+/).filter(function (word) { return !others.has(word); });
        return cut(other && text.length > LONGEST / 2 && own.length ? own.join(' ').replace(/,$/, '') : text);
    }

    function fact(row) {
        var was = d.fact_in_words(row[0], row[1]), now = d.fact_in_words(row[0], row[2]);
        return el('li', {title: was[1] + ' \u2192 ' + now[1]}, (row[2] ? now : was)[0] + ' ',
            el('span', {class: 'was'}, differing(was[1], now[1])), ' \u2192 ', differing(now[1], was[1]));
    }

    /* Kernels that another library code computes than before, by both names, most kernels first. */
    function switches(rows) {
        var found = {};
        rows.filter(function (row) { return row.was && row.now && row.was !== row.now; }).forEach(function (row) {
            var key = row.was + '\n' + row.now;
            found[key] = found[key] || [d.words(row.line.heading), row.was, row.now, 0];
            found[key][3] += 1;
        });
        return Object.values(found).sort(function (a, b) { return b[3] - a[3]; });
    }

    function part(title, items, none) {
        return [el('h3', {}, title), items.length ? el('ul', {}, items) : el('p', {class: 'none'}, none)];
    }

    function new_part(found, rows, one) {
        var code = switches(rows), known = rows.some(function (row) { return row.was && row.now; });
        var shown = code.slice(0, MOST_SWITCHES).map(function (each) {
            return el('li', {}, d.counted(each[3], 'kernel') + ': ', el('span', {class: 'was'}, each[1]), ' \u2192 ' + each[2]);
        });
        if (code.length > MOST_SWITCHES) { shown.push(el('li', {}, (code.length - MOST_SWITCHES) + ' further switches: see the column \u201cimplementation\u201d')); }
        if (one.sides) { return [el('h2', {}, 'Implementation of kernels'), shown.length ? el('ul', {}, shown) : el('p', {class: 'none'}, known ? 'No kernel has another one.' : 'Not recorded for these times.')]; }
        var news = d.new_software(found.software, one.place, one.before_place);
        return [el('h2', {}, 'Also new')].concat(
            part('Companion packages', news.packages.map(fact), 'None, as far as recorded.'),
            part('Libraries and settings', news.others.map(fact), 'None, as far as recorded.'),
            part('Implementation of kernels', shown, known ? 'No kernel has another one.' : 'Not recorded for these times.'));
    }

    function command_part(rows, one) {
        var changed = rows.some(function (row) { return row.verdict === 'slower' || row.verdict === 'faster'; });
        if (!rows.length) { return []; }
        if (one.sides) {
            return [el('h2', {}, 'In a terminal'), d.command_block('deepbench compare ' + [one.base.name + '@' + one.before.name, one.machine.name + '@' + one.after.name].map(d.quoted).join(' '))];
        }
        if (one.after.published) { return []; }
        return one.before ? [el('h2', {}, 'Measure again'), el('p', {}, 'Both releases in turns of milliseconds:'),
            d.command_block('deepbench history ' + one.after.framework + ' ' + one.before.version + ',' + one.after.version)]
            : changed ? [el('h2', {}, 'Measure again'), el('p', {}, 'Both releases in turn; changes that repeat are kept:'),
                d.command_block(d.confirm_command(one.machine.name, one.after.name))] : [];
    }

    /* KERNELS */

    function course(row) {
        var own = row.line.seconds.length > 1, line = own ? row.line : row.base;
        return line.seconds.length > 1 ? d.sparkline(line.seconds, own ? row.to : row.from, own ? row.verdict : '') : '';
    }

    function implementation(row) {
        return row.was && row.now && row.was !== row.now ? row.was + ' \u2192 ' + row.now : row.now || row.was;
    }

    function elsewhere(row, machines) {
        return row.also.map(function (each) {
            return each[0] + d.unsigned_words(machines.find(function (machine) { return machine.name === each[0]; })) + ': ' + d.factor(each[1]);
        }).join('; ');
    }

    /* Opens below a kernel: the command that measures both releases again, and facts about its time. */
    function detail(row, catalogue) {
        var line = row.line, place = el('div', {}, 'Loading \u2026');
        d.whole_line(catalogue, line, line.at[row.to]).then(function (same) {
            var alone = line.releases[row.to].published || row.base.machine !== line.machine;
            var both = alone ? [] : [el('p', {}, 'This measures the kernel again on both releases:'),
                d.command_block(d.command(line, line.releases[row.to], row.base.releases[row.from]))];
            place.replaceChildren.apply(place, both.concat(d.choice_of_version(row.base, row.from), same ? d.detail(same, same.at.indexOf(line.at[row.to])) : []));
        }).catch(function (reason) { place.textContent = reason.message; });
        return place;
    }

    /* Whether a factor differs from the quotient of the two times next to it by more than 5 % or its interval. */
    function unlike_times(row) {
        return Math.abs(Math.log(row.plain / row.ratio)) > Math.log(1 + d.SAME) || Boolean(row.low) && (row.plain < row.low || row.plain > row.high);
    }

    /* How the verdict was obtained, and why the factor differs from the quotient of the times. */
    function judged_by(row) {
        return row.origin + (!unlike_times(row) ? '' : /shared round/.test(row.origin) ? '; the times come from other rounds too'
            : ': the levels before and after, over several releases');
    }

    /* The other versions of both times of a row, by release. */
    function versions(row) {
        return [[row.base, row.from], [row.line, row.to]].map(function (pair) {
            var line = pair[0], place = pair[1];
            return [line.releases[place].name, d.other_versions(line.seconds[place], line.conflict && line.conflict[place])];
        });
    }

    function times(row) {
        var text = d.seconds(row.base.seconds[row.from]) + ' \u2192 ' + d.seconds(row.line.seconds[row.to]);
        return unlike_times(row) ? el('span', {}, text, el('br'), el('small', {}, 'these two: ' + d.factor(row.plain))) : text;
    }

    function changed(row, one) {
        var ends = d.ratio_interval(row.low, row.high);
        var sure = row.verdict === 'slower' || row.verdict === 'faster';
        return el('span', {}, el('strong', {class: row.verdict}, sure ? d.factor(row.ratio) : named(row.verdict, one)), ends || !sure ? [el('br'), el('small', {}, ends || d.factor(row.ratio))] : []);
    }

    /* Columns without a value in any row are left out: older times have no implementation. */
    function columns(rows, one, machines) {
        return [
            {title: 'kernel', long: true, value: function (row) { return d.kernel_label(row.line); }, cell: function (row) {
                return el('span', {}, el('a', {href: d.timeline_address(row.line)}, d.kernel_label(row.line)), ' ',
                    el('small', {}, [d.words(row.line.set), d.kernel_name(row.line), row.line.device].filter(Boolean).join(', ')));
            }},
            {title: one.sides ? 'difference' : 'change', style: 'factor', unit: 'ratio', number: true, value: function (row) { return row.ratio; }, text: function (ratio) { return d.factor(ratio); },
                cell: function (row) { return changed(row, one); }},
            {title: 'course', style: 'course', note: one.sides ? 'seconds over the releases of ' + one.after.framework + ', of ' + one.before.framework + ' where it has one; the dot is the compared release'
                : 'seconds over the releases; the dot is this release',
            value: function (row) { return row.line.seconds.length + ' releases'; }, cell: course},
            {title: 'time', unit: 'seconds', number: true, value: function (row) { return row.line.seconds[row.to]; }, text: function (value, row) {
                return d.seconds(row.base.seconds[row.from]) + ' \u2192 ' + d.seconds(value);
            }, cell: times}
        ].concat(d.version_columns(rows, versions), [
            d.intensity_column(function (row) { return row.line.intensity; }),
            {title: 'noise', unit: 'share', number: true, note: one.sides ? 'standard deviation of the ratio' : 'standard deviation between processes', value: function (row) { return row.noise; },
                text: function (value) { return d.percent(value, 2); }},
            {title: 'judged by', long: true, value: judged_by},
            {title: 'implementation', long: true, value: implementation},
            {title: 'also on', long: true, note: 'other machines with the same change', value: function (row) { return elsewhere(row, machines); }}
        ]).filter(function (column) { return !['implementation', 'also on'].includes(column.title) || rows.some(column.value); });
    }

    function exported(one) {
        function of(title, read) { return {title: title, value: read}; }
        return [of('verdict', function (row) { return row.verdict; }), {title: 'time before', unit: 'seconds', number: true, value: function (row) {
            return row.base.seconds[row.from];
        }}, d.same('release', one.after.name), of(one.sides ? 'compared with' : 'previous release', function (row) { return row.base.releases[row.from].name; }),
            {title: '99 % interval: low', unit: 'ratio', number: true, value: function (row) { return row.low; }},
            {title: '99 % interval: high', unit: 'ratio', number: true, value: function (row) { return row.high; }}]
            .concat(one.base === one.machine ? [] : [d.same('machine compared with', one.base.name)], d.of_lines(function (row) { return row.line; }, []));
    }

    /* THE PAGE */

    /* The changes of a release over the machines that measured it, as counts of slower and faster kernels. */
    function count(index, place, machine) {
        return index.filter(function (one) { return !machine || one.machine === machine; }).reduce(function (sum, one) {
            var row = one.releases.find(function (each) { return each[0] === place; });
            return row ? {kernels: sum.kernels + row[1], slower: sum.slower + row[2], faster: sum.faster + row[3]} : sum;
        }, {kernels: 0, slower: 0, faster: 0});
    }

    function counted(text, counts) {
        var parts = ['slower', 'faster'].filter(function (kind) { return counts[kind]; }).map(function (kind) { return counts[kind] + ' ' + kind; });
        return text + (parts.length ? ' (' + parts.join(', ') + ')' : '');
    }

    /* The place of the newest release that changed something, else of the newest measured one, else of the newest. */
    function newest(index, releases) {
        function last(fits) {
            return Math.max.apply(null, index.flatMap(function (one) { return one.releases.filter(fits).map(function (row) { return row[0]; }); }));
        }
        return [last(function (row) { return row[2] + row[3]; }), last(function (row) { return !releases[row[0]].published; }), last(Boolean)].find(isFinite);
    }

    d.page(function (catalogue) {
        var releases = catalogue.releases, asked = d.asked(), view = {};
        ['verdict', 'group', 'sort', 'find'].forEach(function (name) { view[name] = asked.get(name) || ''; });
        return d.load('data/changes/index').then(function (index) {
            if (!index.length) { return d.instead('No release has been measured yet. Measure one with "asv run", then run "asv publish" again.'); }
            function place_of(name) { return releases.findIndex(function (release) { return release.name === name; }); }
            var first = place_of(asked.get('release'));
            if (first < 0) { first = usual_release(); }
            d.offer(at('framework'), d.distinct(index.map(function (one) { return one.framework; })).sort(), releases[first].framework);
            at('framework').onchange = function () { reset(); at('release').replaceChildren(); offer_releases(new URLSearchParams()); shown(); };
            at('release').onchange = function () { reset(); offer_machines(new URLSearchParams(), at('machine').value); shown(); };
            at('machine').onchange = function () { reset(); offer_base(new URLSearchParams()); shown(); };
            at('base').onchange = function () { reset(); at('before').replaceChildren(); offer_before(new URLSearchParams()); shown(); };
            at('before').onchange = function () { reset(); shown(); };
            offer_releases(asked);
            return shown();

            /* The newest release on the machine and of the framework that the address names, else on the machine, else of the framework. */
            function usual_release() {
                return [['machine', 'framework'], ['machine'], ['framework'], []].map(function (names) {
                    return newest(index.filter(function (one) {
                        return names.every(function (name) { return !asked.get(name) || one[name] === asked.get(name); });
                    }), releases);
                }).find(function (place) { return place !== undefined; });
            }

            function reset() { view = {verdict: '', group: '', sort: '', find: ''}; }
            function own() { return index.filter(function (one) { return one.framework === at('framework').value; }); }
            function chosen() { return place_of(at('release').value); }
            function having() { return own().filter(function (one) { return one.releases.some(function (row) { return row[0] === chosen(); }); }); }

            function offer_releases(wanted) {
                var places = d.distinct(own().flatMap(function (one) { return one.releases.map(function (row) { return row[0]; }); })).sort(function (a, b) { return b - a; });
                var usual = places.includes(first) ? first : newest(own(), releases);
                at('release').value = '';
                d.offer(at('release'), places.map(function (place) { return [releases[place].name, counted(releases[place].name, count(own(), place))]; }),
                    releases[usual].name, wanted.get('release'));
                offer_machines(wanted);
            }

            function offer_machines(wanted, kept) {
                var names = having().map(function (one) { return one.machine; });
                function worth(name) { var found = count(own(), chosen(), name); return 1e6 * (found.slower + found.faster) + found.kernels; }
                var most = names.slice().sort(function (a, b) { return worth(b) - worth(a); })[0];
                at('machine').replaceChildren();
                d.offer(at('machine'), names.map(function (name) { return [name, counted(name, count(own(), chosen(), name))]; }),
                    names.includes(kept) ? kept : most, wanted.get('machine'));
                offer_base(wanted);
            }

            /* The machine of the other side; '' is the same one. */
            function offer_base(wanted) {
                var others = d.ranked_machines(catalogue).map(function (each) { return each.name; }).filter(function (name) {
                    return name !== at('machine').value && index.some(function (one) { return one.machine === name; });
                });
                at('base').replaceChildren();
                at('before').replaceChildren();
                d.offer(at('base'), [['', 'the same machine']].concat(others.map(function (name) { return [name, name]; })), '', wanted.get('on'));
                offer_before(wanted);
            }

            /* The releases of the other side, those of the same framework first; on another machine the same release where it has it. */
            function offer_before(wanted) {
                var there = at('base').value || at('machine').value, framework = at('framework').value;
                var names = index.filter(function (one) { return one.machine === there; })
                    .sort(function (a, b) { return (b.framework === framework) - (a.framework === framework) || (a.framework < b.framework ? -1 : 1); })
                    .flatMap(function (one) { return one.releases.map(function (row) { return releases[row[0]].name; }).reverse(); })
                    .filter(function (name) { return at('base').value || name !== at('release').value; });
                d.offer(at('before'), (at('base').value ? [] : [['', 'the one before it']]).concat(names.map(function (name) { return [name, name]; })),
                    at('base').value && names.includes(at('release').value) ? at('release').value : '', wanted.get('before'));
            }

            function remember(typing) {
                d.remember(Object.assign({release: at('release').value, machine: at('machine').value, framework: at('framework').value, before: at('before').value, on: at('base').value}, view), typing);
            }

            function machine_of(name) { return catalogue.machines.find(function (each) { return each.name === name; }); }

            /* The rows of both releases, and the data of the first side. */
            function loaded(one) {
                function file(side) { return d.load('data/changes/' + side.machine.key + '/' + side.framework); }
                var after = {machine: one.machine, framework: one.after.framework, place: one.place};
                if (!one.sides) {
                    return file(after).then(function (found) { return {found: found, rows: d.compared(found, catalogue, one.machine, after.framework, one.place, one.before_place)}; });
                }
                var before = {machine: one.base, framework: one.before.framework, place: one.before_place};
                return Promise.all([file(after), file(before)]).then(function (found) {
                    return {found: found[0], rows: d.compared_sides(Object.assign(after, {found: found[0]}), Object.assign(before, {found: found[1]}), catalogue)};
                });
            }

            function shown() {
                var machine = machine_of(at('machine').value), base = at('base').value ? machine_of(at('base').value) : machine;
                var before = at('before').value ? place_of(at('before').value) : null;
                var one = {machine: machine, base: base, place: chosen(), after: releases[chosen()], before_place: before, before: before === null ? null : releases[before]};
                one.sides = base !== machine || one.before && one.before.framework !== one.after.framework;
                document.querySelector('h1').textContent = !one.before ? 'Changes with ' + one.after.name : base === machine ? one.after.name + ' against ' + one.before.name
                    : pair(one.after.name, one.before.name, one, 'against');
                at('caution').textContent = caution(one);
                remember();
                var other = one.before ? base.name + '@' + one.before.name : machine.frameworks.filter(function (name) { return name !== one.after.framework && name !== 'published'; })
                    .map(function (name) { return machine.name + '@' + name; })[0];
                at('others').href = 'compare.html' + d.address({side: [machine.name + '@' + one.after.name].concat(other || [])});
                return d.answer(loaded(one), function (both) {
                    one.usual = usual_before(both.rows);
                    draw(both.rows, both.found, one);
                });
            }

            /* The release that most kernels are compared with. */
            function usual_before(rows) {
                var names = rows.map(function (row) { return row.base.releases[row.from].name; }), counts = {};
                names.forEach(function (name) { counts[name] = (counts[name] || 0) + 1; });
                return Object.keys(counts).sort(function (a, b) { return counts[b] - counts[a]; })[0] || '';
            }

            function draw(rows, found, one) {
                at('summary').textContent = rows.length ? headline(rows, one) : one.before ? 'No kernel has times of both: ' + pair(one.after.name, one.before.name, one, 'and') + '.'
                    : one.after.name + ' is the first release of its kernels on ' + one.machine.name + ': there is nothing to compare it with.';
                d.append_marks(at('summary'), [one.machine, one.base]);
                at('tiles').replaceChildren();
                at('kernels').replaceChildren();
                at('strips').hidden = at('kernels-title').hidden = !rows.length;
                at('new').replaceChildren.apply(at('new'), new_part(found, rows, one).concat(command_part(rows, one)));
                if (!rows.length) { return; }
                if (!d.VERDICTS.includes(view.verdict)) { view.verdict = ''; }
                filtered(rows, one);
            }

            function strips_picture() { return at('strips').lastElementChild; }

            function about_strips() {
                return {name: ['strips', at('release').value, at('before').value, at('machine').value, at('base').value].filter(Boolean).join('-'),
                    title: document.querySelector('h1').textContent + (at('base').value ? '' : ' on ' + at('machine').value), sides: at('summary').textContent};
            }

            function filtered(rows, one) {
                function choose(name) { return function (value) {
                    var focused = document.activeElement.id;
                    view[name] = value;
                    remember();
                    filtered(rows, one);
                    if (focused && at(focused)) { at(focused).focus({preventScroll: true}); }
                }; }
                at('tiles').replaceChildren(tiles(rows, one, view.verdict, choose('verdict')));
                if (!at('strips').querySelector('.save')) { at('strips').querySelector('h2').append(' ', d.picture_mark(strips_picture, about_strips)); }
                at('strips').lastElementChild.replaceChildren(d.strips(groups_of(rows), view.group, choose('group')));
                var kept = rows.filter(function (row) {
                    return (!view.verdict || row.verdict === view.verdict) && (!view.group || group_of(row) === view.group);
                });
                at('kernels-title').textContent = 'Kernels' + (kept.length < rows.length ? ': ' + [view.verdict && named(view.verdict, one), view.group].filter(Boolean).map(d.words).join(', ') : '');
                d.table(at('kernels'), {
                    name: [one.after.name, one.before ? one.before.name : '', one.machine.name, at('base').value].filter(Boolean).join('-'),
                    title: one.before ? pair(one.after.name, one.before.name, one, 'against') : one.after.name + ' on ' + one.machine.name, rows: kept, cards: true, view: view,
                    viewed: function (next, typing) { Object.assign(view, next); remember(typing); },
                    taken: exported(one), columns: columns(rows, one, catalogue.machines), detail: function (row) { return detail(row, catalogue); }
                });
            }
        });
    });
})();
