/* The lines of kernels, with their problem, machine and releases filled in. */
'use strict';

(function () {
    var SHOWN = ['problem', 'set', 'pass'];
    var BAND = 3;  /* standard deviations of the noise within which times are called unchanged */
    var SAME = 0.05;  /* the same where the noise is smaller or not known, as in analysis/verdict.py */
    var INCOMPARABLE = ['unknown', 'changed in between'];  /* states, as in measure/machine_states.py */

    /* All lines of a family on a machine. Those of a large family have no times yet, only the fields that a choice among them
       needs, and the name of the file with the others: see `with_times`. */
    function lines_to_choose(catalogue, machine, family) {
        if (!machine.families[family]) { return Promise.resolve([]); }
        var file = 'data/lines/' + machine.key + '/' + family;
        return deepbench.load(file).then(function (found) {
            return filled(found, catalogue, machine, family).map(function (line) {
                return line.part ? Object.assign(line, {file: file + '-' + line.part[0]}) : line;
            });
        });
    }

    /* `lines` of `lines_to_choose` with all their fields. */
    function with_times(catalogue, lines) {
        return Promise.all(lines.map(function (line) {
            return line.file ? deepbench.load(line.file).then(function (found) {
                var rest = found.lines[line.part[1]];
                return Object.assign({}, line, rest, {file: ''}, of_releases(rest, found.notes, catalogue));
            }) : line;
        }));
    }

    /* How many times a line has, also before they are loaded. */
    function count_of_times(line) {
        return line.at ? line.at.length : line.times;
    }

    /* The kernels of a framework on a machine as lines of their newest times (before an unsteady one, the newest steady time), and the `speeds` of all frameworks there. */
    function newest_lines(catalogue, machine, framework) {
        return deepbench.load('data/kernels/' + machine.key + '/' + framework).then(function (found) {
            return {speeds: found.speeds, lines: Object.entries(found.families).flatMap(function (pair) {
                return filled(pair[1], catalogue, machine, pair[0]);
            })};
        });
    }

    /* The lines of a data file with their problem, machine and releases filled in. */
    function filled(found, catalogue, machine, family) {
        return found.lines.map(function (line) {
            var problem = found.problems[line.problem];
            return Object.assign({}, line, {
                machine: machine,
                family: family,
                heading: catalogue.headings[family],
                title: catalogue.title_prefixes[family] + (problem[4] || problem[0]),
                problem: {id: problem[0], application: problem[1], items: problem[2], note: problem[3], title: problem[4] || ''}
            }, line.at && of_releases(line, found.notes, catalogue));
        });
    }

    /* The notes and the releases of a line's times, which its file has as places in lists. */
    function of_releases(line, notes, catalogue) {
        return {
            notes: line.notes && line.notes.map(function (place) { return notes[place]; }),
            releases: line.at.map(function (place) { return catalogue.releases[place]; })
        };
    }

    /* The line of all releases behind one that a page has in part, by a release on it; undefined where it is not published. */
    function whole_line(catalogue, line, release) {
        return lines_to_choose(catalogue, line.machine, line.family).then(function (all) {
            return with_times(catalogue, all.filter(function (each) {
                return each.framework === line.framework && kernel(each) === kernel(line) && (each.state || '') === (line.state || '') &&
                    deepbench.device(each) === deepbench.device(line);
            }));
        }).then(function (some) {
            return some.find(function (each) { return each.at.includes(release); });
        });
    }

    function last(line) {
        return line.seconds.length - 1;
    }

    /* The place of a line's newest steady time, -1 where it has none. */
    function last_steady(line) {
        var place = last(line);
        while (place >= 0 && !is_steady(line, place)) { place -= 1; }
        return place;
    }

    function is_steady(line, place) { return !(line.unsteady && line.unsteady[place]); }

    /* The place of the time that a line's others are divided by: its first steady one, its first where it has none. */
    function base_place(line) {
        return Math.max(0, line.seconds.findIndex(function (seconds, place) { return is_steady(line, place); }));
    }

    /* FLOP/s; for kernels without FLOPs (all-reduce) bytes/s. */
    function rate(line, place) {
        return (line.flops || line.bytes) / line.seconds[place];
    }

    function rate_text(line, place) {
        return deepbench.scaled(rate(line, place), line.flops ? 'FLOP/s' : 'B/s');
    }

    /* The unit of the rates of kernels, as CSV names it. */
    function unit_of_rate(lines) {
        return lines.some(function (line) { return line.flops; }) ? 'FLOP/s' : 'bytes/s';
    }

    /* Columns of exports with the facts that the page shows about all kernels of a table, except the columns `shown`. */
    function of_lines(line_of, shown) {
        return [
            {title: 'machine', value: function (row) { return line_of(row).machine.name; }},
            {title: 'device', value: function (row) { return deepbench.device(line_of(row)); }},
            {title: 'framework', value: function (row) { return line_of(row).framework; }},
            {title: 'family', value: function (row) { return deepbench.words(line_of(row).family); }},
            {title: 'set', value: function (row) { return deepbench.words(line_of(row).set); }},
            {title: 'pass', value: function (row) { return deepbench.words(line_of(row).operation); }},
            {title: 'precision', value: function (row) { return line_of(row).precision; }},
            {title: 'problem', value: function (row) { return problem_name(line_of(row)); }},
            {title: 'conditions', value: function (row) { return conditions(line_of(row), 'device') || 'usual'; }}
        ].filter(function (column) { return !(shown || SHOWN).includes(column.title); });
    }

    function bandwidth(line, place) {
        return line.bytes ? line.bytes / line.seconds[place] : null;
    }

    function of_roof(line, place) {
        return line.roof ? line.flops / line.seconds[place] / line.roof : null;
    }

    /* The unusual conditions of a line, except `less`. */
    function conditions(line, less) {
        return deepbench.CONDITIONS.map(function (condition) { return condition.name; }).concat('settings')
            .map(function (name) { return name === less ? '' : line[name]; }).filter(Boolean).join(', ');
    }

    /* The key of a kernel: equal on every machine and release. */
    function kernel(line) {
        return [line.family, line.set, line.operation, line.precision, problem_name(line), conditions(line, 'device')].join('|');
    }

    function problem_name(line) {
        return line.problem.id + (line.ranks ? ', ' + line.ranks + ' ranks' : '');
    }

    /* The name of a kernel, with all unusual conditions except the device, which belongs to the machine, with the
       machine's state where it has several, and with a mark if the host's launches take its time. */
    function name(line) {
        return [problem_name(line), conditions(line, 'device'), line.state, line.launch_bound ? 'launch-bound' : ''].filter(Boolean).join(', ');
    }

    function timeline_address(line) {
        return 'timeline.html' + deepbench.address({
            family: line.family, set: line.set, operation: line.operation, precision: line.precision,
            problem: line.problem.id, ranks: line.ranks, machine: line.machine.name
        });
    }

    /* How a kernel ran, from the notes of its process: route, primitive, layout, source of its inputs. */
    function notes(line, place) {
        var el = deepbench.el, own = line.notes && line.notes[place] || {};
        var before = place && line.notes ? line.notes[place - 1] : own;
        return Object.entries(own).flatMap(function (pair) {
            var other = before[pair[0]];
            return [el('dt', {}, deepbench.words(pair[0])), el('dd', {}, pair[1] +
                (other && other !== pair[1] ? ' (before: ' + other + ')' : ''))];
        });
    }

    /* A time's interval, or the reason why it has none, why it is unsteady or in conflict, and the machine's state; '' for published
       times, which are single figures. */
    function interval_text(line, place) {
        var interval = line.low && line.low[place] ? deepbench.interval(line.low[place], line.high[place])
            : line.without ? line.without[place] : '';
        var state = line.states && line.states[place] ? 'state of the machine: ' + line.states[place] : '';
        return [interval, ensemble_text(line, place), unsteady_reason(line, place), conflict_text(line, place), state].filter(Boolean).join('; ');
    }

    /* The rounds in which a time was measured together with other releases; '' where it was measured on its own. */
    function ensemble_text(line, place) {
        var found = line.ensemble && line.ensemble[place];
        return found ? found[1] + ' rounds together with ' + found[0] : '';
    }

    /* Why a time is unsteady; '' where it is steady. */
    function unsteady_reason(line, place) {
        return line.unsteady && line.unsteady[place] ? 'unsteady: ' + line.unsteady[place] : '';
    }

    /* The different times that were sent for a point, while no one has chosen; '' where there is one. */
    function conflict_text(line, place) {
        var found = line.conflict && line.conflict[place] || [];
        return found.length ? 'conflict: ' + found.map(deepbench.seconds).join(' and ') + ' were sent' : '';
    }

    /* The seconds of the versions that were sent for a time, except the shown one. `all` are those of a line or of other data, undefined
       where there is one version. */
    function other_versions(seconds, all) {
        var left = (all || []).slice(), shown = left.indexOf(seconds);
        if (shown >= 0) { left.splice(shown, 1); }
        return left;
    }

    /* The column of other versions of times, for tables that have such times. `read(row)` gives pairs of a name, '' where a row has one
       time, and the seconds of its other versions. */
    function version_columns(rows, read) {
        function text(row) {
            return read(row).filter(function (pair) { return pair[1].length; })
                .map(function (pair) { return (pair[0] ? pair[0] + ': ' : '') + pair[1].map(deepbench.seconds).join(' and '); }).join('; ');
        }
        return rows.some(text) ? [{title: 'other version', long: true,
            note: 'different numbers were sent for this time: all are kept, and deepbench conflicts chooses one', value: text}] : [];
    }

    /* The different numbers that were sent for a time, with the commands that list them and choose one; [] where there is no conflict. */
    function choice_of_version(line, place) {
        var text = conflict_text(line, place), el = deepbench.el, machine = ' --machine ' + deepbench.quoted(line.machine.name);
        return !text ? [] : [el('p', {}, 'In ' + text + ', and all are kept. This lists them; deepbench conflicts resolve, followed by the id of one, shows it:'),
            deepbench.command_block('deepbench conflicts' + machine), el('p', {}, 'This keeps the times of the machine that are shown now:'),
            deepbench.command_block('deepbench conflicts resolve --shown' + machine)];
    }

    /* The two columns of a time's interval; `read(row)` gives its line and place. */
    function interval_columns(read) {
        function end(name) {
            return function (row) {
                var time = read(row);
                return time.line[name] ? time.line[name][time.place] : null;
            };
        }
        function without(row) {
            var time = read(row);
            return interval_text(time.line, time.place);
        }
        return [
            {title: '99 % interval: low', unit: 'seconds', number: true, value: end('low'), text: deepbench.seconds, missing: without, cell: function (row) {
                var low = end('low')(row);
                var time = read(row);
                var remarks = [ensemble_text(time.line, time.place), unsteady_reason(time.line, time.place)].filter(Boolean).join('; ');
                return low && !remarks ? deepbench.seconds(low)
                    : deepbench.el('span', {}, low ? [deepbench.seconds(low), deepbench.el('br')] : [],
                        deepbench.el('small', {}, low ? remarks : without(row)));
            }},
            {title: '99 % interval: high', head: 'high', unit: 'seconds', number: true, value: end('high'), text: deepbench.seconds}
        ];
    }

    /* Whether two times of a machine are of unequal numbers of threads, as far as is known. */
    function threads_differ(one, other) {
        return one.machine === other.machine && Boolean(one.threads && other.threads) && one.threads !== other.threads;
    }

    /* Whether two times, each with its machine, threads and state, may be compared: on one machine threads and states must be equal where
       both are known, as in analysis/settings_and_state_agreement.py. */
    function agree(one, other) {
        return one.machine !== other.machine || !threads_differ(one, other) && (!one.state || !other.state || one.state === other.state && !INCOMPARABLE.includes(one.state));
    }

    /* Whether a ratio of two times of a line is no more than its noise. */
    function within_noise(line, ratio) {
        return Math.abs(Math.log(ratio)) <= Math.max(BAND * (line.noise || 0), Math.log(1 + SAME));
    }

    /* Opens below a row: the kernel's timeline, facts about its time, and the command that measures it again. */
    function detail(line, place) {
        var el = deepbench.el;
        var release = line.releases[place];
        var interval = interval_text(line, place);
        return el('div', {},
            el('a', {href: timeline_address(line)}, 'Timeline of this kernel'),
            el('dl', {class: 'facts'},
                el('dt', {}, 'seconds'), el('dd', {}, deepbench.seconds(line.seconds[place]) +
                    (interval ? ', 99 % interval: ' + interval : '')),
                el('dt', {}, 'release'), el('dd', {}, release.name + ', ' + release.date),
                line.problem.title ? [el('dt', {}, 'problem'), el('dd', {}, line.problem.title)] : [],
                el('dt', {}, 'application'), el('dd', {}, line.problem.application || 'not stated'),
                line.problem.note ? [el('dt', {}, 'note'), el('dd', {}, line.problem.note)] : [],
                el('dt', {}, 'noise'), el('dd', {}, line.noise
                    ? deepbench.percent(line.noise, 2) + ' between processes' : 'not known: one process measured each release'),
                conditions(line) ? [el('dt', {}, 'conditions'), el('dd', {}, conditions(line))] : [],
                notes(line, place)),
            choice_of_version(line, place),
            deepbench.command_block(deepbench.command(line, release)));
    }

    Object.assign(deepbench, {
        lines_to_choose: lines_to_choose, with_times: with_times, count_of_times: count_of_times, newest_lines: newest_lines, whole_line: whole_line, last: last, is_steady: is_steady, base_place: base_place, last_steady: last_steady, rate: rate, rate_text: rate_text, unit_of_rate: unit_of_rate, of_lines: of_lines,
        bandwidth: bandwidth, of_roof: of_roof,
        conditions: conditions, kernel: kernel, problem_name: problem_name, kernel_name: name, timeline_address: timeline_address,
        interval_text: interval_text, unsteady_reason: unsteady_reason, interval_columns: interval_columns, other_versions: other_versions, version_columns: version_columns, choice_of_version: choice_of_version, agree: agree, threads_differ: threads_differ, within_noise: within_noise, BAND: BAND, SAME: SAME, detail: detail
    });
})();
