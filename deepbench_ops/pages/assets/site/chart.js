/* Charts, drawn by Plotly in the page's colours, each with its pictures to take along. */
'use strict';

(function () {
    var el = deepbench.el;
    var SYMBOLS = ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'x', 'star'];
    var DASHES = ['solid', 'dash', 'dot', 'dashdot', 'longdash', 'longdashdot', 'solid'];
    var drawn = [];

    function colour(name) {
        return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
    }

    /* A line's looks by its place: colour, dash and symbol together, so that colour alone never tells. */
    function looks(place) {
        var which = place % SYMBOLS.length;
        return {colour: colour('c' + which), symbol: SYMBOLS[which], dash: DASHES[(place + Math.floor(place / 7)) % 7]};
    }

    function faded(hex, part) {
        var parts = [1, 3, 5].map(function (from) { return parseInt(hex.slice(from, from + 2), 16); });
        return 'rgba(' + parts.join(',') + ',' + part + ')';
    }

    function axis(own) {
        return Object.assign({gridcolor: colour('line'), linecolor: colour('quiet'), zerolinecolor: colour('line'),
            automargin: true}, own, {title: {text: own && own.title || '', standoff: 8}});
    }

    /* A logarithmic axis for these values, with labels at 1, 2 and 5 only where there is room. */
    function log_axis(values, own) {
        var decades = Math.log10(Math.max.apply(null, values) / Math.min.apply(null, values));
        return Object.assign({type: 'log', dtick: decades > 2.5 ? Math.ceil(decades / 8) : 'D2', tickformat: '~s'}, own);
    }

    function layout(own) {
        var asked = own || {};
        return Object.assign({
            paper_bgcolor: colour('page'),
            plot_bgcolor: colour('page'),
            font: {color: colour('text'), family: 'system-ui, sans-serif', size: 13},
            margin: {l: 64, r: 16, t: 16, b: 48},
            hovermode: 'closest',
            hoverlabel: {align: 'left', bgcolor: colour('panel'), bordercolor: colour('quiet'), font: {color: colour('text')}},
            legend: {orientation: 'h', x: 0, y: 1.01, yanchor: 'bottom'}
        }, asked, {xaxis: axis(asked.xaxis), yaxis: axis(asked.yaxis)});
    }

    /* The library is large, and a chart takes a while: a page is there before them, only what is looked at is drawn, and
       it comes in steps, between which the page answers. */

    var library = null, steps = Promise.resolve();

    function idle() {
        return new Promise(function (resolve) { (window.requestIdleCallback || setTimeout)(resolve, {timeout: 200}); });
    }

    /* Do `step` when those before it are done and there is nothing else to do. */
    function later(step) {
        var done = steps.then(idle).then(step);
        steps = done.catch(function () { /* told by whoever asked for it */ });
        return done;
    }

    /* Once what is in view is drawn. */
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
            script.onerror = function () { reject(new Error('the library of the charts is missing')); };
            document.head.append(script);
        });
        return library;
    }

    var looked_at = new IntersectionObserver(function (entries) {
        entries.filter(function (entry) { return entry.isIntersecting; }).forEach(function (entry) {
            looked_at.unobserve(entry.target);
            draw(entry.target);
        });
    }, {rootMargin: '300px'});

    /* Fill `place` with a chart. `described` says in words what it shows; `build()` gives Plotly's
       traces and layout, asked again when the theme changes; `clicked(point)` is told of clicks; `room` is the
       least width and the height in pixels, for what does not fit into any: it is panned where a page is narrower. */
    function chart(place, options) {
        var plot = place.querySelector('.plot');
        if (!plot) {
            plot = el('div', {class: 'plot', role: 'img'});
            var tools = el('div', {class: 'tools'}, ['png', 'svg'].map(function (format) {
                return el('button', {type: 'button', click: function () {
                    Promise.resolve(drawn.includes(plot) || draw(plot)).then(function () {
                        Plotly.downloadImage(plot, {format: format, filename: plot.dataset.name,
                            width: plot.clientWidth, height: plot.clientHeight, scale: format === 'png' ? 2 : 1});
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
            looked_at.observe(plot);
        }
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
        var built = plot.deepbench.build();
        return Plotly.react(plot, built.traces, layout(built.layout),
            {responsive: true, displaylogo: false, displayModeBar: false}).then(function () {
            if (drawn.includes(plot)) { return; }
            drawn.push(plot);
            plot.on('plotly_click', function (event) {
                if (plot.deepbench.clicked) { plot.deepbench.clicked(event.points[0]); }
            });
        });
    }

    document.addEventListener('deepbench-theme', function () { drawn.forEach(draw); });

    Object.assign(deepbench, {chart: chart, settled: settled, log_axis: log_axis, colour: colour, faded: faded, looks: looks});
})();
