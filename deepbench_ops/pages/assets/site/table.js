/* Tables that can be filtered, sorted, copied as Markdown and downloaded as CSV.

   deepbench.table(place, {name, title, columns, rows, taken, detail}) fills `place` with a table. A column has
   - title: its name in exports, and on the page unless there is a `head`, a text or element; label: its name on a phone, where that is another one;
   - value(row): a number or text, which rows are sorted by and CSV holds, in `unit`, which CSV's heading names;
   - text(value, row): the value as shown; missing(row): the reason why there is none; cell(row): an element instead;
   - number: whether values are numbers; long: whether its text may wrap; day: whether it must not.
   `taken` are columns of exports only: values that the page shows elsewhere. `detail(row)` is an element that opens below
   a row. `view`, {sort, find}, is the heading that rows are sorted by, with "-" before it for the largest first, and the filter;
   `viewed(view, typing)` is called when the user changes them. With `cards` each row is a card on a phone.
   `limit` rows are shown first, fewer cards on a phone; a button shows all. Filter and order are those of all rows, and paper has all.
   For a table that is in the page already, `line(row)` is the element of a row, `every` shows all of them also on a
   phone, and `tables` is how many such tables share the length of the page. */
'use strict';

(function () {
    var el = deepbench.el;
    var AT_ONCE = 100;  /* rows shown first; a button shows all */
    var UNSEEN = 30;  /* rows of a table that is not visible yet */
    var LINES = 100, FEWEST = 5, MOST = 20;  /* lines of all cards shown first on a phone, a line for each column, and how many cards */
    var REST = 0.5;  /* a table that has less than so much more is shown whole */
    var FEW = 5;  /* rows that need no filter */

    function shown(column, row) {
        var value = column.value(row);
        if (value === null || value === undefined) { return column.missing ? column.missing(row) : ''; }
        return column.text ? column.text(value, row) : String(value);
    }

    function compared(a, b) {
        var blank = [a, b].map(function (x) { return x === null || x === undefined || x === ''; });
        if (blank[0] || blank[1]) { return blank[0] - blank[1]; }
        return typeof a === 'number' && typeof b === 'number' ? a - b
            : String(a).localeCompare(String(b), 'en', {numeric: true});
    }

    function markdown(columns, rows) {
        function line(cells) {
            return '| ' + cells.map(function (text) { return text.replace(/[\\|<]/g, '\\$&').replace(/\n/g, ' '); })
                .join(' | ') + ' |';
        }
        var rule = columns.map(function (column) { return column.number ? '---:' : '---'; });
        return [line(columns.map(function (column) { return column.title; })), '|' + rule.join('|') + '|']
            .concat(rows.map(function (row) {
                return line(columns.map(function (column) { return shown(column, row); }));
            })).join('\n') + '\n';
    }

    /* The heading of a column in CSV: with the unit, since its cells are plain numbers. */
    function titled(column) {
        return column.title + (column.unit ? ' (' + column.unit + ')' : '');
    }

    /* The name of a column on the page as text. */
    function label(column) { return column.label || (typeof column.head === 'string' ? column.head : column.title); }

    /* The order and filter of several tables of a page in the address: NAME-sort and NAME-find of each of `names`. `fields()` are these
       values, and `of(name)` the options of a table. `changed(typing)` is called when the user changes one. */
    function views(names, changed) {
        var asked = deepbench.asked(), known = {};
        names.forEach(function (name) { known[name] = {sort: asked.get(name + '-sort') || '', find: asked.get(name + '-find') || ''}; });
        return {
            fields: function () {
                return Object.fromEntries(names.flatMap(function (name) { return [[name + '-sort', known[name].sort], [name + '-find', known[name].find]]; }));
            },
            of: function (name) {
                return {view: known[name], viewed: function (next, typing) {
                    known[name] = next;
                    changed(typing);
                }};
            }
        };
    }

    /* A column with the same text in every row. */
    function same(title, text) {
        return {title: title, value: function () { return text; }};
    }

    /* The column of FLOP per byte of kernels; `read(row)` is null where it is not known. */
    function intensity_column(read) {
        return {title: 'intensity', head: 'FLOP per byte', unit: 'FLOP/byte', number: true, value: read, text: function (value) { return deepbench.digits(value, 3); }};
    }

    /* The rows as CSV. A text that a spreadsheet would read as a formula gets an apostrophe. */
    function csv(columns, rows) {
        function line(cells) {
            return cells.map(function (cell) {
                var text = cell === null || cell === undefined ? '' : String(cell);
                if (typeof cell === 'string' && /^[=+@\t\r-]/.test(text)) { text = "'" + text; }
                return /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
            }).join(',');
        }
        return [line(columns.map(titled))].concat(rows.map(function (row) {
            return line(columns.map(function (column) { return column.value(row); }));
        })).join('\n') + '\n';
    }

    var phone = matchMedia('(max-width: 40rem)');  /* as in site.css */

    /* Draw the tables again that have more rows than they show. */
    function redraw() {
        document.querySelectorAll('.table').forEach(function (whole) { whole.redraw(); });
    }

    deepbench.when_printed(redraw);
    phone.addEventListener('change', redraw);

    function table(place, options) {
        var columns = options.columns, taken = columns.concat(options.taken || []);
        var every = Boolean(options.every);  /* whether all rows are wanted */
        var seen = Math.min(options.rows.length, options.limit || AT_ONCE) <= UNSEEN || options.limit === Infinity, count_drawn = 0;
        var view = options.view || {}, filter = view.find || '', down = /^-/.test(view.sort || '');
        var sorted_by = columns.find(function (column) { return view.sort && column.title === view.sort.replace(/^-/, ''); }) || null, rows = [];
        var count = el('span', {role: 'status'});
        var body = el('tbody');
        var more = el('button', {type: 'button', class: 'all', hidden: true, click: function () {
            var first_new = count_drawn;
            every = true;
            draw();
            (body.rows[first_new].querySelector('a, button, summary') || body.closest('.scroll')).focus({preventScroll: true});
        }});
        var heads = columns.map(function (column) {
            return el('th', {scope: 'col', class: [column.number && 'number', column.style].filter(Boolean).join(' ') || null},
                el('button', {type: 'button', title: column.note, click: function () {
                    down = sorted_by === column ? !down : Boolean(column.number);
                    sorted_by = column;
                    draw();
                    viewed(false);
                }}, column.head || column.title));
        });

        function limit() {
            var most = options.limit || AT_ONCE;
            if (every || deepbench.printed()) { return Infinity; }
            var cards = Math.max(FEWEST, Math.min(MOST, Math.floor(LINES / columns.length / (options.tables || 1))));
            return options.cards && phone.matches && rows.length > (1 + REST) * cards ? Math.min(cards, most) : most;
        }

        function viewed(typing) {
            if (options.viewed) { options.viewed({sort: sorted_by ? (down ? '-' : '') + sorted_by.title : '', find: filter}, typing); }
        }

        function selected() {
            var found = deepbench.searched(filter);
            rows = options.rows.filter(function (row) {
                return found(options.line ? read(row) : taken.map(function (column) { return shown(column, row); }).join(' '));
            });
            if (sorted_by) {
                rows.sort(function (a, b) {
                    var x = sorted_by.value(a), y = sorted_by.value(b);
                    var order = compared(x, y);
                    var blank = [x, y].some(function (v) { return v === null || v === undefined || v === ''; });
                    return down && !blank ? -order : order;
                });
            }
        }

        function made(row) {
            return el('tr', {}, columns.map(function (column, place) {
                var inside = column.cell ? column.cell(row) : shown(column, row);
                var kind = ['number', 'long', 'day'].find(function (name) { return column[name]; });
                return el(place ? 'td' : 'th', {scope: place ? null : 'row', class: [kind, column.style].filter(Boolean).join(' ') || null,
                    'data-label': options.cards ? label(column) : null}, inside);
            }));
        }

        function drawn(row) {
            var line = (options.line || made)(row), first = line.cells[0];
            if (options.detail && !first.querySelector('.open')) {
                var open = el('button', {type: 'button', class: 'open', 'aria-expanded': 'false',
                    'aria-label': 'How it was measured: ' + shown(columns[0], row)}, '\u22ef');
                open.addEventListener('click', function () {
                    var is_open = open.getAttribute('aria-expanded') === 'true';
                    open.setAttribute('aria-expanded', String(!is_open));
                    if (is_open) {
                        line.nextSibling.remove();
                    } else {
                        line.after(el('tr', {class: 'detail'}, el('td', {colspan: columns.length}, el('div', {class: 'opened'}, options.detail(row)))));
                    }
                });
                first.append(' ', open);
            }
            return line;
        }

        function draw() {
            selected();
            heads.forEach(function (head, place) {
                if (columns[place] === sorted_by) {
                    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
                } else {
                    head.removeAttribute('aria-sort');
                }
            });
            body.querySelectorAll('.open[aria-expanded=true]').forEach(function (open) { open.click(); });
            var all = options.rows.length, most = limit();
            count_drawn = Math.min(rows.length, seen || deepbench.printed() ? most : Math.min(most, UNSEEN));
            body.replaceChildren.apply(body, rows.slice(0, count_drawn).map(drawn));
            count.textContent = (rows.length === all ? '' : rows.length + ' of ') + all + (all === 1 ? ' row' : ' rows') + (rows.length <= most ? '' : ', the first ' + most + ' shown');
            more.hidden = rows.length <= most;
            more.textContent = 'Show all ' + rows.length + ' rows';
        }

        var tools = el('div', {class: 'tools'});
        if (options.rows.length > FEW || filter) {
            tools.append(el('label', {}, 'Filter ', el('input', {type: 'search', value: filter, input: function (event) {
                filter = event.target.value;
                every = false;
                draw();
                viewed(true);
            }})));
        }
        tools.append(count,
            deepbench.copy_button('Copy as Markdown', function () { return markdown(taken, rows); }),
            deepbench.outcome_button('Download CSV', 'Saved', function () {
                deepbench.save(options.name + '.csv', csv(taken, rows), 'text/csv');
                return Promise.resolve(true);
            }));
        var whole = el('div', {class: options.cards ? 'table cards' : 'table'}, tools,
            el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': options.title || options.name},
                el('table', {}, el('thead', {}, el('tr', {}, heads)), body)), more);
        whole.redraw = function () {
            if (count_drawn < rows.length || limit() < rows.length) { draw(); }
        };
        place.replaceChildren(whole);
        draw();
        if (!seen) { deepbench.when_seen(whole, function () { seen = true; draw(); }); }
    }

    /* Give a table that is in the page already the same tools. A cell's value is its data-value where it has one, else
       its text; a column's name in exports is its data-title where it has one, else its text. Returns a function that shows it
       by a `view` and `viewed`, both optional. */
    function adopt(box, name) {
        var columns = Array.from(box.querySelectorAll('thead th'), function (head, place) {
            var number = head.classList.contains('number');
            return {
                title: head.dataset.title || read(head), style: head.dataset.style, label: read(head), unit: head.dataset.unit, head: Array.from(head.childNodes), number: number,
                value: function (row) {
                    var text = row.cells[place].dataset.value;
                    return text === undefined ? read(row.cells[place]) : number && text ? Number(text) : text;
                },
                text: function (value, row) { return number ? read(row.cells[place]) : value; }
            };
        });
        var rows = Array.from(box.querySelectorAll('tbody tr')), wanted = location.hash.slice(1);
        var every = Boolean(wanted) && Array.from(box.querySelectorAll('[id], [name]')).some(function (part) { return [part.id, part.name].map(encodeURIComponent).includes(wanted); });
        var place = el('div'), taken = Object.entries(JSON.parse(box.dataset.taken || '{}'));
        rows.forEach(function (row) {
            columns.forEach(function (column, at) {
                row.cells[at].dataset.label = column.label;
                if (column.style) { row.cells[at].classList.add(column.style); }
            });
        });
        function show(view, viewed) {
            if (box.isConnected) { box.replaceWith(place); }
            table(place, {name: [name].concat(taken.map(function (pair) { return pair[1]; })).join('-'),
                taken: taken.map(function (pair) { return same(pair[0], pair[1]); }), title: box.getAttribute('aria-label'), columns: columns, rows: rows,
                cards: true, limit: Infinity, every: every, tables: boxes.length, line: function (row) { return row; }, view: view, viewed: viewed,
                detail: rows.some(commands) && function (row) { return el('div', {}, commands(row)); }});
        }
        return show;
    }

    /* The text of an element with blanks between its parts, also of hidden ones. */
    function read(element) {
        return Array.from(element.childNodes, function (node) {
            return node.nodeType === Node.TEXT_NODE ? node.data : node.matches('.open') ? '' : read(node);
        }).join(' ').replace(/\s+/g, ' ').trim();
    }

    /* The command that confirms the changes of a row with a machine and a release; undefined for other rows. */
    function commands(row) {
        var own = row.dataset;
        return own.machine && deepbench.command_block(deepbench.confirm_command(own.machine, own.release));
    }

    var boxes = Array.from(document.querySelectorAll('main .scroll'));
    var adopted = boxes.map(function (box, place) {
        var page = location.pathname.split('/').pop().replace('.html', '');
        return adopt(box, page + (place ? '-' + place : ''));
    });
    Object.assign(deepbench, {table: deepbench.guarded(table), table_views: views, intensity_column: intensity_column, same: same, adopted: adopted});
})();
