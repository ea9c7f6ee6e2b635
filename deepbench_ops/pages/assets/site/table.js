/* A table that can be filtered, sorted and taken along as Markdown or CSV.

   deepbench.table(place, {name, columns, rows, detail}): `place` is filled with it. A column has a
   title and `value(row)`, a number or text, which is what is sorted by and what CSV holds; `text(value,
   row)` is how it is shown, `cell(row)` an element in its place; `number` says that it is one, `long`
   that its text may take several lines.
   `detail(row)` is an element that opens below a row. */
'use strict';

(function () {
    var el = deepbench.el;
    var AT_ONCE = 100;  /* rows; the others on request */
    var FEW = 5;  /* so many need no filter */

    function shown(column, row) {
        var value = column.value(row);
        if (value === null || value === undefined) { return ''; }
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
            return '| ' + cells.map(function (text) { return text.replace(/\|/g, '\\|').replace(/\n/g, ' '); })
                .join(' | ') + ' |';
        }
        var rule = columns.map(function (column) { return column.number ? '---:' : '---'; });
        return [line(columns.map(function (column) { return column.title; })), '|' + rule.join('|') + '|']
            .concat(rows.map(function (row) {
                return line(columns.map(function (column) { return shown(column, row); }));
            })).join('\n') + '\n';
    }

    function csv(columns, rows) {
        function line(cells) {
            return cells.map(function (cell) {
                var text = cell === null || cell === undefined ? '' : String(cell);
                return /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
            }).join(',');
        }
        return [line(columns.map(function (column) { return column.title; }))].concat(rows.map(function (row) {
            return line(columns.map(function (column) { return column.value(row); }));
        })).join('\n') + '\n';
    }

    function table(place, options) {
        var columns = options.columns;
        var sorted_by = null, down = false, filter = '', limit = AT_ONCE, rows = [];
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
                }}, column.title));
        });

        function selected() {
            var wanted = filter.toLowerCase().split(/\s+/).filter(Boolean);
            rows = options.rows.filter(function (row) {
                var text = columns.map(function (column) { return shown(column, row); }).join(' ').toLowerCase();
                return wanted.every(function (word) { return text.includes(word); });
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

        function drawn(row) {
            var cells = columns.map(function (column, place) {
                var inside = column.cell ? column.cell(row) : shown(column, row);
                var kind = column.number ? 'number' : column.long ? 'long' : null;
                return el(place ? 'td' : 'th', {scope: place ? null : 'row', class: kind}, inside);
            });
            var line = el('tr', {}, cells);
            if (options.detail) {
                var open = el('button', {type: 'button', class: 'open', 'aria-expanded': 'false',
                    'aria-label': 'How it was measured: ' + shown(columns[0], row)}, '\u22ef');
                open.addEventListener('click', function () {
                    var is_open = open.getAttribute('aria-expanded') === 'true';
                    open.setAttribute('aria-expanded', String(!is_open));
                    if (is_open) {
                        line.nextSibling.remove();
                    } else {
                        line.after(el('tr', {class: 'detail'}, el('td', {colspan: columns.length}, options.detail(row))));
                    }
                });
                cells[0].append(' ', open);
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
            body.replaceChildren.apply(body, rows.slice(0, limit).map(drawn));
            count.textContent = rows.length === options.rows.length
                ? rows.length + ' rows' : rows.length + ' of ' + options.rows.length + ' rows';
            more.hidden = rows.length <= limit;
            more.textContent = 'Show all ' + rows.length;
        }

        var tools = el('div', {class: 'tools'});
        if (options.rows.length > FEW) {
            tools.append(el('label', {}, 'Filter ', el('input', {type: 'search', input: function (event) {
                filter = event.target.value;
                limit = AT_ONCE;
                draw();
            }})));
        }
        tools.append(count,
            deepbench.copy_button('Copy as Markdown', function () { return markdown(columns, rows); }),
            el('button', {type: 'button', click: function () {
                deepbench.save(options.name + '.csv', csv(columns, rows), 'text/csv');
            }}, 'Download CSV'));
        place.replaceChildren(el('div', {class: 'table'}, tools,
            el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': options.title || options.name},
                el('table', {}, el('thead', {}, el('tr', {}, heads)), body)), more));
        draw();
    }

    /* A table that is in the page already: the same tools, above the box that it scrolls in. Its cells
       are taken as they read. */
    function adopt(box, name) {
        var rows = Array.from(box.querySelectorAll('tbody tr'));
        var columns = Array.from(box.querySelectorAll('thead th')).map(function (head, place) {
            return {title: head.innerText.trim(), value: function (row) { return row.cells[place].innerText.trim(); }};
        });
        var down = null;
        function present() { return rows.filter(function (row) { return !row.hidden; }); }
        var tools = el('div', {class: 'tools'});
        if (rows.length > FEW) {
            tools.append(el('label', {}, 'Filter ', el('input', {type: 'search', input: function (event) {
                var wanted = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
                rows.forEach(function (row) {
                    var text = row.textContent.toLowerCase();
                    row.hidden = !wanted.every(function (word) { return text.includes(word); });
                });
            }})));
        }
        tools.append(
            deepbench.copy_button('Copy as Markdown', function () { return markdown(columns, present()); }),
            el('button', {type: 'button', click: function () {
                deepbench.save(name + '.csv', csv(columns, present()), 'text/csv');
            }}, 'Download CSV'));
        box.before(tools);
        box.querySelectorAll('thead th').forEach(function (head, place) {
            var button = el('button', {type: 'button', click: function () {
                down = head.getAttribute('aria-sort') === 'ascending';
                box.querySelectorAll('thead th').forEach(function (each) { each.removeAttribute('aria-sort'); });
                head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
                rows.sort(function (a, b) {
                    var order = compared(columns[place].value(a), columns[place].value(b));
                    return down ? -order : order;
                });
                var body = box.querySelector('tbody');
                body.append.apply(body, rows);
            }});
            button.append.apply(button, Array.from(head.childNodes));
            head.append(button);
        });
    }

    deepbench.table = table;
    document.querySelectorAll('main .scroll').forEach(function (box, place) {
        var page = location.pathname.split('/').pop().replace('.html', '');
        adopt(box, page + (place ? '-' + place : ''));
    });
})();
