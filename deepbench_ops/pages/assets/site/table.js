/* A table that can be filtered, sorted and taken along as Markdown or CSV.

   deepbench.table(place, {name, columns, rows, detail}): `place` is filled with it. A column has a
   title and `value(row)`, a number or text, which is what is sorted by and what CSV holds, in `unit`, which
   its heading there names; `text(value, row)` is how it is shown, `missing(row)` why there is none,
   `cell(row)` an element in its place, `head` what the heading holds on the page; `number` says that it is one,
   `long` that its text may take several lines, `day` that it may not. `taken` are columns that the page tells elsewhere: they are only taken along.
   `detail(row)` is an element that opens below a row. Of a table that is in the page already `line(row)` is
   the row's element. */
'use strict';

(function () {
    var el = deepbench.el;
    var AT_ONCE = 100;  /* rows; the others on request */
    var UNSEEN = 30;  /* rows of a table that nobody looks at yet */
    var FEW = 5;  /* so many need no filter */

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

    /* Cells of CSV are plain numbers, so the heading tells their unit. */
    function titled(column) {
        return column.title + (column.unit ? ' (' + column.unit + ')' : '');
    }

    function file_name(name) {
        return name.replace(/[^\w.@+-]+/g, '_');
    }

    /* A column of a text that is the same in every row. */
    function same(title, text) {
        return {title: title, value: function () { return text; }};
    }

    var looked_at = new IntersectionObserver(function (entries) {
        entries.filter(function (entry) { return entry.isIntersecting; }).forEach(function (entry) {
            looked_at.unobserve(entry.target);
            entry.target.dispatchEvent(new Event('deepbench-seen'));
        });
    }, {rootMargin: '300px'});

    /* A text that a spreadsheet would take for a formula is given an apostrophe. */
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

    function table(place, options) {
        var columns = options.columns, taken = columns.concat(options.taken || []);
        var seen = options.rows.length <= UNSEEN || options.limit === Infinity;
        var sorted_by = null, down = false, filter = '', limit = options.limit || AT_ONCE, rows = [];
        var count = el('span', {role: 'status'});
        var body = el('tbody');
        var more = el('button', {type: 'button', hidden: true, click: function () {
            limit = Infinity;
            draw();
        }});
        var heads = columns.map(function (column) {
            return el('th', {scope: 'col', class: column.number ? 'number' : null},
                el('button', {type: 'button', title: column.note, click: function () {
                    down = sorted_by === column ? !down : Boolean(column.number);
                    sorted_by = column;
                    draw();
                }}, column.head || column.title));
        });

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
                return el(place ? 'td' : 'th', {scope: place ? null : 'row', class: kind}, inside);
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
                        line.after(el('tr', {class: 'detail'}, el('td', {colspan: columns.length}, el('div', {class: 'told'}, options.detail(row)))));
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
            body.replaceChildren.apply(body, rows.slice(0, seen ? limit : UNSEEN).map(drawn));
            var all = options.rows.length;
            count.textContent = (rows.length === all ? '' : rows.length + ' of ') + all + (all === 1 ? ' row' : ' rows');
            more.hidden = rows.length <= limit;
            more.textContent = 'Show all ' + rows.length;
        }

        var tools = el('div', {class: 'tools'});
        if (options.rows.length > FEW) {
            tools.append(el('label', {}, 'Filter ', el('input', {type: 'search', input: function (event) {
                filter = event.target.value;
                limit = options.limit || AT_ONCE;
                draw();
            }})));
        }
        tools.append(count,
            deepbench.copy_button('Copy as Markdown', function () { return markdown(taken, rows); }),
            el('button', {type: 'button', click: function () {
                deepbench.save(file_name(options.name) + '.csv', csv(taken, rows), 'text/csv');
            }}, 'Download CSV'));
        var whole = el('div', {class: 'table'}, tools,
            el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': options.title || options.name},
                el('table', {}, el('thead', {}, el('tr', {}, heads)), body)), more);
        place.replaceChildren(whole);
        draw();
        if (!seen) {
            whole.addEventListener('deepbench-seen', function () { seen = true; draw(); });
            looked_at.observe(whole);
        }
    }

    /* A table that is in the page already gets the same tools. A cell's value is its data-value where it
       has one, else how it reads. */
    function adopt(box, name) {
        var columns = Array.from(box.querySelectorAll('thead th'), function (head, place) {
            var number = head.classList.contains('number');
            return {
                title: read(head), unit: head.dataset.unit, head: Array.from(head.childNodes), number: number,
                value: function (row) {
                    var text = row.cells[place].dataset.value;
                    return text === undefined ? read(row.cells[place]) : number && text ? Number(text) : text;
                },
                text: function (value, row) { return number ? read(row.cells[place]) : value; }
            };
        });
        var rows = Array.from(box.querySelectorAll('tbody tr'));
        var place = el('div');
        box.replaceWith(place);
        var taken = Object.entries(JSON.parse(box.dataset.taken || '{}'));
        table(place, {name: [name].concat(taken.map(function (pair) { return pair[1]; })).join('-'),
            taken: taken.map(function (pair) { return same(pair[0], pair[1]); }), title: box.getAttribute('aria-label'), columns: columns, rows: rows,
            limit: Infinity, line: function (row) { return row; },
            detail: rows.some(commands) && function (row) { return el('div', {}, commands(row)); }});
    }

    /* The text of an element with blanks between its parts, whether it is shown or not. */
    function read(element) {
        return Array.from(element.childNodes, function (node) {
            return node.nodeType === Node.TEXT_NODE ? node.data : node.matches('.open') ? '' : read(node);
        }).join(' ').replace(/\s+/g, ' ').trim();
    }

    /* What a row says of how it is measured: a kernel and releases, or a machine and what changed there. */
    function commands(row) {
        var told = row.dataset;
        if (told.kernel) {
            return JSON.parse(told.releases).map(function (name) {
                return deepbench.told_command(deepbench.command(JSON.parse(told.kernel), {name: name}));
            });
        }
        return told.machine && deepbench.told_command(deepbench.confirm_command(told.machine, told.release));
    }

    Object.assign(deepbench, {table: table, same: same});
    document.querySelectorAll('main .scroll').forEach(function (box, place) {
        var page = location.pathname.split('/').pop().replace('.html', '');
        adopt(box, page + (place ? '-' + place : ''));
    });
})();
