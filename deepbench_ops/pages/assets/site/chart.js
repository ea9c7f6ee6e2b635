/* Charts, drawn by Plotly in the page's colours, each with buttons that download it as a picture. */
'use strict';

(function () {
    var el = deepbench.el;
    var SYMBOLS = ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'x', 'star'];
    var DASHES = ['solid', 'dash', 'dot', 'dashdot', 'longdash', 'longdashdot', '2px 7px'];
    var drawn = [];

    function colour(name) {
        return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
    }

    /* Colour, dash and symbol of a line by its place, so that lines differ not only in colour. Every seven lines the
       colours repeat with other dashes and symbols: 49 lines look different. Symbols are filled; a page uses hollow
       ones to mark points. */
    function looks(place) {
        var which = place % 7, turn = Math.floor(place / 7), other = (which + turn) % 7;
        return {colour: colour('c' + which), symbol: SYMBOLS[other], dash: DASHES[other]};
    }

    function faded(hex, part) {
        var parts = [1, 3, 5].map(function (from) { return parseInt(hex.slice(from, from + 2), 16); });
        return 'rgba(' + parts.join(',') + ',' + part + ')';
    }

    function coloured(axis) {
        return Object.assign({gridcolor: colour('line'), linecolor: colour('quiet'), zerolinecolor: colour('line'),
            automargin: true}, axis, {title: {text: axis.title || '', standoff: 8}});
    }

    function layout(built, plot) {
        var asked = built.layout;
        return Object.assign({
            paper_bgcolor: colour('page'),
            plot_bgcolor: colour('page'),
            font: {color: colour('text'), family: 'system-ui, sans-serif', size: 13},
            margin: {l: 64, r: 16, t: 16, b: 48},
            hovermode: 'closest',
            hoverlabel: {align: 'left', bgcolor: colour('panel'), bordercolor: colour('quiet'), font: {color: colour('text')}},
            legend: {orientation: 'h', x: 0, y: 1.01, yanchor: 'bottom'}
        }, asked, {
            xaxis: coloured(deepbench.axis(asked.xaxis || {}, 'x', built.traces, plot.clientWidth - 80)),
            yaxis: coloured(deepbench.axis(asked.yaxis || {}, 'y', built.traces, plot.clientHeight - 80))
        });
    }

    /* Set the labels for the visible part of the axes after zooming or resizing. */
    function relabel(plot) {
        var news = {};
        ['x', 'y'].forEach(function (letter) {
            var own = plot.asked[letter + 'axis'], drawn = plot._fullLayout[letter + 'axis'];
            if (!own || !own.label) { return; }
            var found = deepbench.axis_labels(own, drawn.range, letter, drawn._length);
            if (String(found.tickvals) === String(drawn.tickvals)) { return; }
            Object.entries(found).forEach(function (pair) { news[letter + 'axis.' + pair[0]] = pair[1]; });
        });
        if (Object.keys(news).length) { Plotly.relayout(plot, news); }
    }

    /* The library is large and drawing is slow. So the page is usable before its charts, only visible charts are drawn,
       and drawing is cut into steps, between which the page responds. */

    var library = null, steps = Promise.resolve();

    function idle() {
        return new Promise(function (resolve) { (window.requestIdleCallback || setTimeout)(resolve, {timeout: 200}); });
    }

    /* Run `step` after the steps before it, when the browser is idle. */
    function later(step) {
        var done = steps.then(idle).then(step);
        steps = done.catch(function () { /* the caller reports it */ });
        return done;
    }

    /* Resolves when all visible charts are drawn. */
    function settled() {
        var known = steps;
        return known.then(next_frame).then(next_frame).then(function () { return known === steps ? null : settled(); });
    }

    function next_frame() {
        return new Promise(function (resolve) { requestAnimationFrame(function () { setTimeout(resolve); }); });
    }

    function loaded() {
        library = library || new Promise(function (resolve, reject) {
            var script = el('script', {src: document.getElementById('charts').getAttribute('href')});
            script.onload = resolve;
            script.onerror = function () { reject(new Error('the library that draws charts is missing: publish the pages again')); };
            document.head.append(script);
        });
        return library;
    }

    var visible = new IntersectionObserver(function (entries) {
        entries.filter(function (entry) { return entry.isIntersecting; }).forEach(function (entry) {
            visible.unobserve(entry.target);
            draw(entry.target);
        });
    }, {rootMargin: '300px'});

    /* Fill `place` with a chart. `described` is its content in words. `title` and `sides`, the things compared, are the
       heading of downloaded pictures. `build()` returns Plotly's traces and layout, and is called again when the theme
       changes. `clicked(point)` is called for each click. `room` is the height and the least width in pixels; on a
       narrower page the chart scrolls sideways. */
    function chart(place, options) {
        forget();
        var plot = place.querySelector('.plot');
        if (!plot) {
            plot = el('div', {class: 'plot', role: 'img'});
            var tools = el('div', {class: 'tools'}, ['png', 'svg'].map(function (format) {
                return el('button', {type: 'button', click: function () {
                    Promise.resolve(drawn.includes(plot) || draw(plot)).then(function () {
                        return deepbench.save_picture(plot, format);
                    });
                }}, 'Download ' + format.toUpperCase());
            }));
            place.replaceChildren(el('div', {class: 'pan'}, plot), tools);
            place.classList.add('chart');
        }
        plot.deepbench = options;
        if (options.room) { take_room(plot, options.room); }
        plot.dataset.name = options.name;
        plot.setAttribute('aria-label', options.described);
        if (drawn.includes(plot)) {
            draw(plot);
        } else {
            visible.observe(plot);
        }
    }

    /* Release the charts that are no longer in the page. */
    function forget() {
        drawn.filter(function (plot) { return !plot.isConnected; }).forEach(function (plot) { Plotly.purge(plot); });
        drawn = drawn.filter(function (plot) { return plot.isConnected; });
    }

    var LOWEST = 300, HIGHEST = 1400;

    function take_room(plot, room) {
        plot.style.height = Math.min(HIGHEST, Math.max(LOWEST, room.height)) + 'px';
        if (!room.width) { return; }
        plot.style.minWidth = room.width + 'px';
        Object.entries({tabindex: 0, role: 'region', 'aria-label': plot.deepbench.described}).forEach(function (pair) {
            plot.parentNode.setAttribute(pair[0], pair[1]);
        });
    }

    function draw(plot) {
        return later(function () {
            return loaded().then(idle).then(function () { return put(plot); });
        });
    }

    function put(plot) {
        if (!plot.isConnected) { return null; }
        var built = plot.deepbench.build();
        plot.asked = built.layout;
        return Plotly.react(plot, built.traces, layout(built, plot),
            {responsive: true, displaylogo: false, displayModeBar: false}).then(function () {
            if (drawn.includes(plot)) { return; }
            drawn.push(plot);
            plot.on('plotly_relayout', function () { relabel(plot); });
            plot.on('plotly_click', function (event) {
                if (plot.deepbench.clicked) { plot.deepbench.clicked(event.points[0]); }
            });
        });
    }

    document.addEventListener('deepbench-theme', function () { drawn.forEach(draw); });

    Object.assign(deepbench, {chart: chart, settled: settled, colour: colour, faded: faded, looks: looks});
})();
