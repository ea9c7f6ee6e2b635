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

    /* The library is large: a page is there before it, and only what is looked at is drawn. */

    var library = null;

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
       traces and layout, asked again when the theme changes; `clicked(point)` is told of clicks. */
    function chart(place, options) {
        var plot = place.querySelector('.plot');
        if (!plot) {
            plot = el('div', {class: 'plot', role: 'img'});
            var tools = el('div', {class: 'tools'}, ['png', 'svg'].map(function (format) {
                return el('button', {type: 'button', click: function () {
                    draw(plot).then(function () {
                        Plotly.downloadImage(plot, {format: format, filename: plot.dataset.name,
                            width: plot.clientWidth, height: plot.clientHeight, scale: format === 'png' ? 2 : 1});
                    });
                }}, 'Download ' + format.toUpperCase());
            }));
            place.replaceChildren(plot, tools);
            place.classList.add('chart');
        }
        plot.deepbench = options;
        plot.dataset.name = options.name;
        plot.setAttribute('aria-label', options.described);
        if (drawn.includes(plot)) {
            draw(plot);
        } else {
            looked_at.observe(plot);
        }
    }

    function draw(plot) {
        return loaded().then(function () {
            var built = plot.deepbench.build();
            return Plotly.react(plot, built.traces, layout(built.layout),
                {responsive: true, displaylogo: false, displayModeBar: false});
        }).then(function () {
            if (drawn.includes(plot)) { return; }
            drawn.push(plot);
            plot.on('plotly_click', function (event) {
                if (plot.deepbench.clicked) { plot.deepbench.clicked(event.points[0]); }
            });
        });
    }

    document.addEventListener('deepbench-theme', function () { drawn.forEach(draw); });

    Object.assign(deepbench, {chart: chart, log_axis: log_axis, colour: colour, faded: faded, looks: looks});
})();
