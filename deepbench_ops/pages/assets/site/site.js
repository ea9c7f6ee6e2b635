/* Shared by all our own pages: elements, numbers as text, the address, choices, commands, the drawing of a page. */
'use strict';

(function () {
    /* ELEMENTS. Text is always inserted as text, never as HTML: names come from other people's files. */

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

    /* BROKEN DATA: one line in the place of a picture or table, and the rest of the page is drawn. */

    function broken(reason) {
        console.error(reason);
        return el('p', {class: 'torn', role: 'alert'}, 'This part cannot be shown, since its data are broken: ' + reason.message + '. Publish the pages again.');
    }

    /* `draw`, which fills its first argument, so that broken data are reported there. */
    function guarded(draw) {
        return function (place) {
            try {
                return draw.apply(null, arguments);
            } catch (reason) {
                place.hidden = false;
                return place.replaceChildren(broken(reason));
            }
        };
    }

    /* `make`, which returns an element, so that it returns the report for broken data. */
    function guarded_element(make) {
        return function () {
            try { return make.apply(null, arguments); } catch (reason) { return broken(reason); }
        };
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

    var FEWEST_DIGITS = 3, MOST_DIGITS = 6;

    /* Ratios in three digits, or in as many as tell them from each other and from 1. */
    function ratio_texts(ratios) {
        function apart(values) { return new Set(values).size; }
        for (var count = FEWEST_DIGITS; ; count += 1) {
            var texts = ratios.map(function (ratio) { return digits(ratio, count); });
            if (count === MOST_DIGITS || apart(['1'].concat(texts)) === apart([1].concat(ratios))) { return texts; }
        }
    }

    /* The size of a ratio of seconds, to `count` digits if stated. */
    function size(ratio, count) {
        var factor = Math.max(ratio, 1 / ratio);
        return count ? digits(factor, count) : ratio_texts([factor])[0];
    }

    /* 'slower' or 'faster' for a ratio of seconds; '' where it is 1, to `count` digits if stated. */
    function direction(ratio, count) {
        return size(ratio, count) === '1' ? '' : ratio > 1 ? 'slower' : 'faster';
    }

    /* A ratio of seconds in words, like '4.3\u00d7 slower'. */
    function factor(ratio, count) {
        var way = direction(ratio, count);
        return way ? size(ratio, count) + '\u00d7 ' + way : 'no difference';
    }

    /* The same next to the other side of the comparison. */
    function factor_than(ratio, other) {
        return direction(ratio) ? factor(ratio) + ' than ' + other : 'as fast as ' + other;
    }

    /* The ends of an interval of a ratio of seconds, in words; '' where there is none. */
    function ratio_interval(low, high) {
        if (low === null || high === null) { return ''; }
        if (!direction(low) || direction(low) !== direction(high)) { return factor(low) + ' to ' + factor(high); }
        return size(low > 1 ? low : high) + ' to ' + factor(low > 1 ? high : low);
    }

    /* A change and its interval of 99 %, all ratios of seconds, in words. */
    function change(ratio, low, high) {
        return factor(ratio) + ' (99 % interval: ' + ratio_interval(low, high) + ')';
    }

    /* An integer with a comma between thousands. The browser's own function takes 25 ms on its first call. */
    function grouped(count) {
        return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
    }

    function counted(count, noun) {
        return grouped(count) + ' ' + noun + (count === 1 ? '' : 's');
    }

    function words(name) {
        return String(name).replace(/_/g, ' ');
    }

    /* Name and value of a recorded fact in words; the size of a memory or cache in GiB or MiB, as the commands print it. */
    function fact_in_words(name, value) {
        var bytes = /^(.*)_bytes$/.exec(name), size = bytes && Number(value);
        if (!size) { return [words(name), String(value)]; }
        return [words(bytes[1]), size < 1073741824 ? digits(size / 1048576, 4) + ' MiB' : digits(size / 1073741824, 4) + ' GiB'];
    }

    /* Returns whether a text holds all words of `query`, also inside longer words. A single letter must be a whole
       word, since nearly every text holds it. */
    function searched(query) {
        var wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
        return function (text) {
            var lower = text.toLowerCase(), own = new Set(lower.split(/[^\p{L}\p{N}]+/u));
            return wanted.every(function (word) { return word.length === 1 ? own.has(word) : lower.includes(word); });
        };
    }

    /* THE ADDRESS holds the view of a page, so that a link shows others the same. */

    /* The names and values in the address. */
    function asked() {
        return new URLSearchParams(location.hash.slice(1));
    }

    /* The address of `wanted`: a text for each name, left out where empty, or a list of texts. */
    function address(wanted) {
        var found = new URLSearchParams();
        Object.entries(wanted).forEach(function (pair) {
            [].concat(pair[1]).forEach(function (value) {
                if ((value !== '' || Array.isArray(pair[1])) && value !== null && value !== undefined) { found.append(pair[0], value); }
            });
        });
        return '#' + found.toString();
    }

    var drawing = false;  /* whether the page is being changed to match the address */

    /* Put the user's choices into the address, as a step that the browser's Back button undoes. Letters typed one after
       another (`typing`) are one step. */
    function remember(wanted, typing) {
        var next = address(wanted);
        if (next === (location.hash || '#')) { return; }
        var same_step = drawing || typing && history.state === 'typing';
        history[same_step ? 'replaceState' : 'pushState'](typing ? 'typing' : null, '', next);
        address_changed();
    }

    /* The day of the results and the address of the view, for pictures and paper; from a disk without folders, which
       differ from reader to reader. */
    function origin() {
        var shown = location.protocol === 'file:' ? location.pathname.split('/').pop() + location.hash : location.href;
        return 'Results published ' + document.body.dataset.day + ', ' + shown;
    }

    /* Choices that several pages have: by page, their names in its address. */
    var SHARED = {
        'index.html': {machine: 'machine', framework: 'framework', precision: 'precision', family: 'family'},
        'machine.html': {machine: 'machine', framework: 'framework', precision: 'precision', device: 'conditions'},
        'frameworks.html': {machine: 'where', precision: 'at'},
        'operations.html': {machine: 'machine', precision: 'precision', family: 'family', operation: 'operation'},
        'release.html': {machine: 'machine', framework: 'framework'},
        'compare.html': {side: 'side', precision: 'precision', family: 'family', device: 'device'},
        'models.html': {machine: 'machine'},
        'nodes.html': {machine: 'machine'},
        'timeline.html': {machine: 'machine', framework: 'framework', precision: 'precision', family: 'family', operation: 'operation'}
    };

    /* Put the choices in the address into the links to the other pages that have them too. Such a link says `carried`: its page ignores
       choices that it has no data for. A side of a comparison is a machine, @ and a framework or a release of one. */
    function carry_choices() {
        var here = location.pathname.split('/').pop() || 'index.html', now = asked(), chosen = {};
        Object.entries(SHARED[here] || {}).forEach(function (pair) { chosen[pair[0]] = now.get(pair[1]); });
        var side = /^(.*)@(.*?)(-\d.*)?$/.exec(chosen.side || '');
        if (side) { Object.assign(chosen, {machine: side[1], framework: side[2]}); }
        chosen.side = chosen.machine && [chosen.machine, chosen.framework].filter(Boolean).join('@');
        document.querySelectorAll('header a, footer a').forEach(function (link) {
            var page = link.getAttribute('href').split('#')[0], names = Object.entries(SHARED[page] || {});
            if (page === here || !names.length) { return; }
            var carried = address(Object.fromEntries(names.map(function (pair) { return [pair[1], chosen[pair[0]] || '']; })));
            link.setAttribute('href', page + (carried === '#' ? '' : carried + '&carried=yes'));
        });
    }

    function address_changed() {
        document.getElementById('printed').textContent = origin();
        carry_choices();
    }

    window.addEventListener('popstate', address_changed);
    address_changed();

    var follows = 0;

    /* A page that draws nothing is there when it is loaded. */
    window.addEventListener('load', function () {
        if (!follows) { document.body.dataset.usable = document.body.dataset.ready = Math.round(performance.now()); }
    });

    /* Call `show()`, which makes the page match its address, now and whenever Back, Forward or a link change it. */
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

    /* Fill a select with `values`: texts, or pairs of a value and its text. Selects the value that the address names,
       else the one selected before, else `usual`, else the first. Reports a value in the address that is not there. */
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

    /* The same for a select whose values are in the page: without a value in the address the first. */
    function choose(select, asked) {
        select.selectedIndex = 0;
        offer(select, Array.from(select.options, function (option) { return [option.value, option.text]; }), null, asked);
    }

    /* Report a name in the address that the page does not have, until the user chooses something; one that a link carried is ignored. */
    function not_here(what, name) {
        if (asked().has('carried')) { return; }
        document.getElementById('content').prepend(el('p', {class: 'torn missing', role: 'alert'},
            'The address names the ' + what.toLowerCase() + ' \u201c' + name + '\u201d, which these pages do not have. ' +
            'Another one is shown.'));
    }

    function distinct(values) {
        return Array.from(new Set(values));
    }

    /* Machines in the order in which a page shows them: the one that published, then measured ones, those with the most lines first. One
       that `fits(machine)` comes before all others. */
    function ranked_machines(catalogue, fits) {
        function count(machine) { return Object.values(machine.families).reduce(function (sum, lines) { return sum + lines; }, 0); }
        return catalogue.machines.filter(count).sort(function (a, b) {
            return (fits ? fits(b) - fits(a) : 0) || (b.name === catalogue.here) - (a.name === catalogue.here) || b.measured - a.measured || count(b) - count(a);
        });
    }

    function first_machine(catalogue, fits) { return ranked_machines(catalogue, fits)[0]; }

    function processor(machine) {
        var entry = machine.entry, accelerator = entry.accelerator;
        return accelerator && accelerator !== 'none' ? accelerator : entry.cpu || 'not stated';
    }

    /* MACHINES WITHOUT A SIGNATURE */

    /* A mark to show behind the name of a machine of the catalogue, with an explanation, where results came in without the signature of an
       allowed signer; [] for other machines. */
    function unsigned_mark(machine) {
        return machine && machine.unsigned ? el('small', {class: 'unsigned', title: machine.unsigned_reason}, machine.unsigned) : [];
    }

    /* The mark as words behind the name of a machine, where a text has no elements; '' for other machines. */
    function unsigned_words(machine) {
        return machine && machine.unsigned ? ' (' + machine.unsigned + ')' : '';
    }

    /* `name`, a text or an element, with the mark of its machine. */
    function marked_name(name, machine) {
        return machine && machine.unsigned ? el('span', {}, name, ' ', unsigned_mark(machine)) : name;
    }

    /* Add the names of those machines that have a mark, with it, to the text of an element. */
    function append_marks(place, machines) {
        distinct(machines).filter(function (machine) { return machine.unsigned; }).forEach(function (machine) {
            place.append(' ', marked_name(machine.name, machine));
        });
    }

    /* Show the mark of a chosen machine behind the choice of it. */
    function mark_choice(select, machine) {
        select.parentNode.querySelectorAll('.unsigned').forEach(function (mark) { mark.remove(); });
        select.after.apply(select, [].concat(unsigned_mark(machine)).flatMap(function (mark) { return [' ', mark]; }));
    }

    /* COMMANDS that reproduce a number. */

    function escaped(text) {
        return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    }

    /* The conditions of runs, each with its name, environment variable and usual value. A line names those that do not
       have their usual values. */
    var CONDITIONS = JSON.parse(document.body.dataset.conditions);

    /* The device of a line or of other data that name it only where it is not the usual one. */
    function device(line) {
        return line.device || CONDITIONS.find(function (condition) { return condition.name === 'device'; }).usual;
    }

    /* Exports published times as a table. */
    function export_command(machine, release) {
        return 'deepbench export published.csv --machine ' + quoted(machine.name) + ' --release ' + release.name;
    }

    /* Runs the kernels of `patterns` on a release, and on the release `before` where one is given. asv reads conditions from its
       configuration only, so a comment names them. */
    function run_command(release, patterns, conditions, before) {
        var unusual = CONDITIONS.filter(function (condition) { return conditions[condition.name]; })
            .map(function (condition) { return '"' + condition.variable + '": ["' + conditions[condition.name] + '"]'; }).join(', ');
        return (conditions.settings ? conditions.settings + ' ' : '') + 'asv run "' + (before ? before.name + ' ' + release.name : release.name + '^!') + '"' +
            patterns.map(function (pattern) { return ' --bench "' + pattern + '"'; }).join('') +
            (unusual ? '  # with ' + unusual + ' in the matrix of asv.conf.json' : '');
    }

    /* Measures a line again at one of its releases, and at another one `before` it where one is given. */
    function command(line, release, before) {
        if (release.published) {
            return export_command(line.machine, release);
        }
        var ranks = line.ranks ? ', ' + line.ranks : '';
        var kernel = '^' + escaped(line.benchmark) + "\\('" + escaped(line.problem.id) + "', '" +
            line.precision + "'" + ranks;
        return run_command(release, [kernel], line, before);
    }

    /* Measures the kernels of several families again; each family has a precision and selections. */
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

    /* Measures the changes of a release on a machine again, and keeps those that repeat. */
    function confirm_command(machine, release) {
        return 'deepbench verdict --machine ' + quoted(machine) + ' --release ' + release + ' --confirm';
    }

    function quoted(text) {
        return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
    }

    /* A command with a button that copies it. */
    function command_block(text) {
        return el('p', {class: 'command'}, el('code', {}, text), copy_button('Copy the command', function () {
            return text;
        }));
    }

    var OUTCOME = 2000;  /* milliseconds that a button shows its outcome */

    /* A button that shows the outcome of `act()` instead of its label for a while; `done` is the word for success, and `act`
       returns a promise of whether it succeeded. */
    function outcome_button(label, done, act) {
        var button = el('button', {type: 'button', click: function () {
            act().then(function (succeeded) {
                var outcome = succeeded ? done : 'Not ' + done.toLowerCase();
                button.style.minWidth = button.offsetWidth + 'px';
                button.textContent = outcome;
                announce(outcome);
                clearTimeout(waiting);
                waiting = setTimeout(function () { button.textContent = label; }, OUTCOME);
            });
        }}, label), waiting = null;
        return button;
    }

    function copy_button(label, text) {
        return outcome_button(label, 'Copied', function () { return copy(text()); });
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

    var scripts = {};

    /* Load a script of this site once, and again after a failure; a promise of its end. */
    function script(address) {
        scripts[address] = scripts[address] || new Promise(function (resolve, reject) {
            document.head.append(el('script', {src: address, load: resolve, error: function () {
                delete scripts[address];
                reject(new Error(address + ' is missing'));
            }}));
        });
        return scripts[address];
    }

    /* Save `content`, a text or a blob, as a file. */
    function save(name, content, type) {
        var link = el('a', {href: URL.createObjectURL(new Blob([content], {type: type})), download: file_name(name)});
        link.click();
        setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    }

    function file_name(name) {
        return name.replace(/[^\w.@+-]+/g, '_');
    }

    /* A text for screen readers alone, with the meaning of a colour; [] where it is empty. */
    function said(text) { return text ? el('span', {class: 'status'}, ' ' + text) : []; }

    /* Announce a text to screen readers, also when it is the same as before. */
    function announce(text) {
        var status = document.getElementById('status');
        if (!status) {
            status = el('p', {id: 'status', class: 'status', role: 'status'});
            document.body.append(status);
        }
        status.textContent = '';
        setTimeout(function () { status.textContent = text; });
    }

    /* A button below the `first` of `all` rows of a table, hidden where these are all. `show()` adds the others, and returns the first of them: the
       focus goes to its link, since the button is gone. */
    function more_button(first, all, text, show) {
        var button = el('button', {type: 'button', class: 'more', hidden: all <= first, click: function () {
            var row = show();
            button.hidden = true;
            if (!row) { return; }
            row.tabIndex = -1;
            (row.querySelector('a, button') || row).focus({preventScroll: true});
        }}, text);
        return button;
    }

    /* Call `act` when `place` comes near the visible part of the page; a later call for the same place replaces it. */
    var waiting = new WeakMap();
    var near = new IntersectionObserver(function (entries) {
        entries.filter(function (entry) { return entry.isIntersecting; }).forEach(function (entry) {
            near.unobserve(entry.target);
            waiting.get(entry.target)();
        });
    }, {rootMargin: '300px'});

    function when_seen(place, act) {
        waiting.set(place, act);
        near.unobserve(place);
        near.observe(place);
    }

    /* PAPER: print.css is used before the page is printed, so that pictures and tables are drawn by the width that it gives them. */

    var on_paper = false, redrawing = [];
    var SMALLEST = 0.65;  /* of the size of letters in tables */

    /* Call `draw()` when the page goes to paper and when it comes back; `printed()` says which. */
    function when_printed(draw) { redrawing.push(draw); }

    function printed() { return on_paper; }

    function turn(paper) {
        if (paper === on_paper) { return; }
        on_paper = paper;
        document.querySelector('link[href$="print.css"]').media = paper ? 'all' : 'print';
        redrawing.forEach(function (draw) { draw(); });
        document.querySelectorAll('main table').forEach(function (table) { fit(table, paper); });
    }

    /* Make a table smaller that is wider than the paper; where its letters would be too small each row becomes a list. */
    function fit(table, paper) {
        var whole = table.closest('.cards');
        table.style.zoom = '';
        if (whole) { whole.classList.remove('listed'); }
        var share = table.parentElement.clientWidth / table.offsetWidth;
        if (!paper || !(share < 1)) { return; }
        if (whole && share < SMALLEST) { whole.classList.add('listed'); } else { table.style.zoom = share; }
    }

    window.addEventListener('beforeprint', function () { turn(true); });
    window.addEventListener('afterprint', function () { turn(false); });
    matchMedia('print').addEventListener('change', function (event) { turn(event.matches); });

    /* Show a sentence instead of a page's content. */
    function instead(text) {
        document.getElementById('content').replaceChildren(el('p', {class: 'lead'}, text));
    }

    /* Call `show` with the outcome of the newest request of the page: outcomes may arrive in another order. */
    var requests = 0;
    function answer(promise, show) {
        var own = requests += 1;
        return promise.then(function (found) { return own === requests ? show(found) : null; });
    }

    /* Resolves when the content is on the screen. */
    function painted() {
        return new Promise(function (resolve) { requestAnimationFrame(function () { setTimeout(resolve); }); });
    }

    /* Results that cannot be read, on every page of a site with a catalogue. Pages without a `page` below also report here that the
       catalogue is damaged. */
    function report_damage() {
        function report(text) { document.getElementById('main').prepend(el('p', {class: 'torn', role: 'alert'}, text)); }
        deepbench.load('data/catalogue').then(function (catalogue) { catalogue.torn.forEach(report); }, function (reason) {
            if (!document.getElementById('content')) { report('Results that cannot be read are not listed: ' + reason.message); }
        });
    }

    if (document.getElementById('search')) { report_damage(); }

    /* Run a page: `draw(catalogue)` when the catalogue is loaded, and again, on the page as it was loaded, when Back or a
       link change the address. On the body `data-usable` is the time in milliseconds when its tables and choices were
       there, `data-ready` the time when everything was drawn. */
    function page(draw) {
        var loaded = document.getElementById('content').cloneNode(true), first = true;
        document.getElementById('main').addEventListener('change', function () {
            document.querySelectorAll('.missing').forEach(function (report) { report.remove(); });
        });
        follow(function () {
            var restore = first ? function () {} : restart(loaded);
            first = false;
            var drawn = deepbench.load('data/catalogue').then(draw).catch(failed);
            drawn.then(function () {
                document.body.dataset.usable = Math.round(performance.now());
                return painted();
            }).then(function () {
                restore();
                document.body.dataset.ready = Math.round(performance.now());
            });
            return drawn;
        });
        function failed(reason) {
            instead('This page cannot be shown: ' + reason.message);
            console.error(reason);
        }
    }

    /* Replace the content by that of the loaded page. Returns a function to call when the new content is drawn: until then
       the height stays, so that the page does not scroll; then the focus returns to its element. */
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
        el: el, guarded: guarded, guarded_element: guarded_element, digits: digits, scaled: scaled, seconds: seconds, interval: interval, percent: percent,
        direction: direction, factor: factor, factor_than: factor_than, ratio_texts: ratio_texts, ratio_interval: ratio_interval, change: change, counted: counted, grouped: grouped, words: words, fact_in_words: fact_in_words, searched: searched,
        asked: asked, address: address, remember: remember, origin: origin, follow: follow, offer: offer,
        choose: choose, not_here: not_here, distinct: distinct, first_machine: first_machine, ranked_machines: ranked_machines, processor: processor,
        unsigned_mark: unsigned_mark, unsigned_words: unsigned_words, marked_name: marked_name, append_marks: append_marks, mark_choice: mark_choice,
        command: command, families_command: families_command, confirm_command: confirm_command, quoted: quoted,
        command_block: command_block, CONDITIONS: CONDITIONS, device: device, copy_button: copy_button, outcome_button: outcome_button, more_button: more_button, announce: announce, said: said, script: script, save: save, when_seen: when_seen, when_printed: when_printed, printed: printed, instead: instead,
        answer: answer, page: page
    });
})();
