/* What all our pages share: elements, numbers as text, what the address holds, commands. */
'use strict';

(function () {
    /* ELEMENTS. Text is always put in as text: names come from files of strangers. */

    function el(name, attributes) {
        var element = document.createElement(name);
        Object.entries(attributes || {}).forEach(function (pair) {
            if (typeof pair[1] === 'function') {
                element.addEventListener(pair[0], pair[1]);
            } else if (pair[1] !== false && pair[1] !== null && pair[1] !== undefined) {
                element.setAttribute(pair[0], pair[1] === true ? '' : pair[1]);
            }
        });
        element.append.apply(element, Array.prototype.slice.call(arguments, 2).flat());
        return element;
    }

    /* NUMBERS */

    var PREFIXES = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']];

    function digits(value, count) {
        if (value === null || value === undefined || !isFinite(value)) { return ''; }
        return value !== 0 && (Math.abs(value) >= 1e9 || Math.abs(value) < 1e-4)
            ? value.toExponential(count - 1) : String(Number(value.toPrecision(count)));
    }

    function scaled(value, unit) {
        if (!(value > 0)) { return ''; }
        var prefix = PREFIXES.find(function (each) { return value >= each[0]; }) || [1, ''];
        return digits(value / prefix[0], 3) + ' ' + prefix[1] + unit;
    }

    function seconds(value) {
        if (!(value > 0)) { return ''; }
        var unit = value >= 1 ? [1, 's'] : value >= 1e-3 ? [1e-3, 'ms'] : [1e-6, '\u00b5s'];
        return digits(value / unit[0], 4) + ' ' + unit[1];
    }

    function interval(low, high) {
        return low && high ? seconds(low) + ' to ' + seconds(high) : '';
    }

    function percent(share, count) {
        if (!(share > 0)) { return ''; }
        var whole = Math.floor(Math.log10(100 * share)) + 1;
        return digits(100 * share, Math.max(whole, count || 3)) + ' %';
    }

    function ratio(value) {
        return digits(value, 3);
    }

    /* 'slower' or 'faster' by a ratio of seconds; '' where it is 1 to three digits. */
    function direction(ratio) {
        return digits(Math.max(ratio, 1 / ratio), 3) === '1' ? '' : ratio > 1 ? 'slower' : 'faster';
    }

    /* A ratio of seconds in words. */
    function times(ratio) {
        return direction(ratio) ? digits(Math.max(ratio, 1 / ratio), 3) + ' times ' + direction(ratio) : 'no difference';
    }

    function counted(count, noun) {
        return count + ' ' + noun + (count === 1 ? '' : 's');
    }

    function words(name) {
        return String(name).replace(/_/g, ' ');
    }

    /* Whether a text holds all words of `query`, each a word of it or a part of one; a single letter is a word of its
       own, since as a part it is nearly everywhere. */
    function searched(query) {
        var wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
        return function (text) {
            var lower = text.toLowerCase(), own = new Set(lower.split(/[^\p{L}\p{N}]+/u));
            return wanted.every(function (word) { return word.length === 1 ? own.has(word) : lower.includes(word); });
        };
    }

    /* Plotly reads its own small markup in texts, so what comes from files is escaped for it. */
    function plain(text) {
        return String(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
    }

    /* THE ADDRESS holds what a page shows, so that it can be sent to others. */

    function asked() {
        return new URLSearchParams(location.hash.slice(1));
    }

    /* `wanted`: names with a text, which is left out where it is empty, or with a list of them. */
    function address(wanted) {
        var found = new URLSearchParams();
        Object.entries(wanted).forEach(function (pair) {
            [].concat(pair[1]).forEach(function (value) {
                if ((value !== '' || Array.isArray(pair[1])) && value !== null && value !== undefined) { found.append(pair[0], value); }
            });
        });
        return '#' + found.toString();
    }

    var drawing = false;  /* whether the page follows the address, and not the other way round */

    /* Put the user's choices into the address, as a step that the browser's Back takes back. Letters that are
       typed after each other (`typing`) are one step. */
    function remember(wanted, typing) {
        var next = address(wanted);
        if (next === (location.hash || '#')) { return; }
        var same_step = drawing || typing && history.state === 'typing';
        history[same_step ? 'replaceState' : 'pushState'](typing ? 'typing' : null, '', next);
    }

    var follows = 0;

    /* Have `show()` bring the page to its address, now and whenever Back, Forward or a link change it. */
    function follow(show) {
        function shown() {
            var own = follows += 1;
            drawing = true;
            return Promise.resolve(show()).finally(function () { drawing = drawing && own !== follows; });
        }
        window.addEventListener('popstate', shown);
        return shown();
    }

    /* CHOICES */

    /* Put `values` into a select: texts, or pairs of a value and what is shown. Takes what the address
       asked for, which is told where it is not among them; else keeps what was chosen; else takes
       `usual`, else the first. */
    function offer(select, values, usual, asked) {
        var pairs = values.map(function (each) { return Array.isArray(each) ? each : [each, words(each)]; });
        var known = pairs.map(function (pair) { return pair[0]; });
        var taken = [asked, select.value, usual, known[0]].find(function (each) { return known.includes(each); });
        select.replaceChildren.apply(select, pairs.map(function (pair) {
            return el('option', {value: pair[0]}, pair[1]);
        }));
        select.value = taken === undefined ? '' : taken;
        select.disabled = known.length === 0;
        if (asked && taken !== asked) { not_here(select.closest('label').firstChild.textContent.trim(), asked); }
    }

    /* The same for a select whose values the page holds: without a wish the first. */
    function choose(select, asked) {
        select.selectedIndex = 0;
        offer(select, Array.from(select.options, function (option) { return [option.value, option.text]; }), null, asked);
    }

    /* Report names in the address that the page does not have, until something else is chosen. */
    function not_here(what, name, why) {
        document.getElementById('content').prepend(el('p', {class: 'torn missing', role: 'alert'},
            'The address asks for the ' + what.toLowerCase() + ' \u201c' + name + '\u201d, ' +
            (why || 'which is not here') + '. Something else is shown.'));
    }

    function distinct(values) {
        return Array.from(new Set(values));
    }

    /* The machine that a page begins with: the one that published, else that of the newest results. */
    function first_machine(catalogue) {
        return catalogue.machines.slice().sort(function (a, b) {
            return (b.name === catalogue.here) - (a.name === catalogue.here) || b.measured - a.measured ||
                b.newest.localeCompare(a.newest);
        }).find(function (machine) { return Object.keys(machine.families).length; });
    }

    function processor(machine) {
        var entry = machine.entry, accelerator = entry.accelerator;
        return accelerator && accelerator !== 'none' ? accelerator : entry.cpu || 'not told';
    }

    /* COMMANDS that reproduce a number */

    function escaped(text) {
        return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    }

    /* A line names those of its run's conditions that are not the usual ones. */
    var DEVICE = 'cpu';  /* the usual one */
    var VARIABLES = {device: 'DEEPBENCH_DEVICE', cache: 'DEEPBENCH_CACHE', layout: 'DEEPBENCH_LAYOUT',
        execution: 'DEEPBENCH_EXECUTION'};

    /* How to have what was published as a table. */
    function export_command(machine, release) {
        return 'deepbench export published.csv --machine ' + quoted(machine.name) + ' --release ' + release.name;
    }

    /* asv takes conditions from its configuration alone, so that results bear their names. */
    function run_command(release, patterns, conditions) {
        var unusual = Object.keys(VARIABLES).filter(function (name) { return conditions[name]; })
            .map(function (name) { return '"' + VARIABLES[name] + '": ["' + conditions[name] + '"]'; }).join(', ');
        return (conditions.settings ? conditions.settings + ' ' : '') + 'asv run "' + release.name + '^!"' + patterns.map(function (pattern) { return ' --bench "' + pattern + '"'; }).join('') +
            (unusual ? '  # with ' + unusual + ' in the matrix of asv.conf.json' : '');
    }

    /* How to measure a line anew at one of its releases. */
    function command(line, release) {
        if (release.published) {
            return export_command(line.machine, release);
        }
        var ranks = line.ranks ? ', ' + line.ranks : '';
        var kernel = '^' + escaped(line.benchmark) + "\\('" + escaped(line.problem.id) + "', '" +
            line.precision + "'" + ranks;
        return run_command(release, [kernel], line);
    }

    /* How to measure anew the kernels of several families: each tells its precision and selections. */
    function families_command(machine, release, families) {
        if (release.published) {
            return export_command(machine, release);
        }
        return run_command(release, families.flatMap(function (family) {
            return family.selections.map(function (selection) {
                return '$(deepbench select ' + selection + ' --precision ' + family.precision + ')';
            });
        }), families[0].unusual);
    }

    /* How to measure again what a release changed on a machine, and to keep what repeats. */
    function confirm_command(machine, release) {
        return 'deepbench verdict --machine ' + quoted(machine) + ' --release ' + release + ' --confirm';
    }

    function quoted(text) {
        return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
    }

    function told_command(text) {
        return el('p', {class: 'command'}, el('code', {}, text), copy_button('Copy the command', function () {
            return text;
        }));
    }

    var SAID = 2000;  /* milliseconds that a button shows its outcome */

    /* A button that copies `text()` and says so in the place of its label. */
    function copy_button(label, text) {
        var button = el('button', {type: 'button', click: function () {
            copy(text()).then(function (done) {
                var said = done ? 'Copied' : 'Not copied';
                button.style.minWidth = button.offsetWidth + 'px';
                button.textContent = said;
                tell(said);
                clearTimeout(waiting);
                waiting = setTimeout(function () { button.textContent = label; }, SAID);
            });
        }}, label), waiting = null;
        return button;
    }

    /* Whether `text` could be copied. */
    function copy(text) {
        function otherwise() {
            var before = document.activeElement, area = el('textarea', {}, text);
            document.body.append(area);
            area.select();
            var done = document.execCommand('copy');
            area.remove();
            before.focus();
            return done;
        }
        return navigator.clipboard ? navigator.clipboard.writeText(text).then(function () { return true; }, otherwise)
            : Promise.resolve(otherwise());
    }

    function save(name, text, type) {
        var link = el('a', {href: URL.createObjectURL(new Blob([text], {type: type})), download: name});
        link.click();
        setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    }

    /* Said to those who cannot see it, too; the same text again is said again. */
    function tell(text) {
        var status = document.getElementById('status');
        if (!status) {
            status = el('p', {id: 'status', class: 'status', role: 'status'});
            document.body.append(status);
        }
        status.textContent = '';
        setTimeout(function () { status.textContent = text; });
    }

    /* Where there is nothing to show: says so in place of a page's content. */
    function instead(text) {
        document.getElementById('content').replaceChildren(el('p', {class: 'lead'}, text));
    }

    /* Answers may come in another order than they were asked for: `show` gets only that to the page's
       newest question. */
    var questions = 0;
    function answer(promise, show) {
        var own = questions += 1;
        return promise.then(function (found) { return own === questions ? show(found) : null; });
    }

    /* Run a page: `draw(catalogue)` once the catalogue is there, and again from the page as it was loaded when Back or
       a link change the address. `data-usable` tells after how many milliseconds its tables and choices were there,
       `data-ready` when nothing was left to do. */
    function page(draw) {
        var loaded = document.getElementById('content').cloneNode(true), first = true;
        document.getElementById('main').addEventListener('change', function () {
            document.querySelectorAll('.missing').forEach(function (told) { told.remove(); });
        });
        deepbench.load('data/catalogue').then(function (catalogue) {
            catalogue.torn.forEach(function (text) {
                document.getElementById('main').prepend(el('p', {class: 'torn', role: 'alert'}, text));
            });
        }).catch(function () { /* reported below */ });
        follow(function () {
            var restore = first ? function () {} : restart(loaded);
            first = false;
            var drawn = deepbench.load('data/catalogue').then(draw).catch(failed);
            drawn.then(function () {
                document.body.dataset.usable = Math.round(performance.now());
                return deepbench.settled();
            }).then(function () {
                restore();
                document.body.dataset.ready = Math.round(performance.now());
            });
            return drawn;
        });
        function failed(reason) {
            instead('This page could not be drawn: ' + reason.message);
            console.error(reason);
        }
    }

    /* Replace the shown content by that as loaded. Returns a function to call when it is drawn: until then
       it keeps its height, so that the page stays where it is scrolled to; then the focus returns to its place. */
    function restart(loaded) {
        var before = document.getElementById('content'), content = loaded.cloneNode(true), focused = document.activeElement.id;
        delete document.body.dataset.ready;
        content.style.minHeight = before.offsetHeight + 'px';
        before.replaceWith(content);
        return function () {
            var place = focused && document.getElementById(focused);
            if (place && document.activeElement === document.body) { place.focus({preventScroll: true}); }
            content.style.minHeight = '';
        };
    }

    Object.assign(deepbench, {
        el: el, digits: digits, scaled: scaled, seconds: seconds, interval: interval, percent: percent,
        ratio: ratio, direction: direction, times: times, counted: counted, words: words, searched: searched, plain: plain, asked: asked, address: address, remember: remember, follow: follow, offer: offer,
        choose: choose, not_here: not_here, distinct: distinct, first_machine: first_machine, processor: processor,
        command: command, families_command: families_command, confirm_command: confirm_command, quoted: quoted,
        told_command: told_command, VARIABLES: VARIABLES, DEVICE: DEVICE, copy_button: copy_button, save: save, instead: instead,
        answer: answer, page: page
    });
})();
