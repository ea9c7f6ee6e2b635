/* Downloaded pictures of charts. A heading above the chart holds its title, the compared sides and the day of the
   results, since the picture is shown without its page. */
'use strict';

(function () {
    var LETTER = 7, LINE = 19, MARGIN = 12;  /* pixels */

    /* `text` as lines of at most `width` pixels, broken at blanks. */
    function wrapped(text, width) {
        return text.split(' ').reduce(function (lines, word) {
            var longer = lines[lines.length - 1] + ' ' + word;
            return longer.length * LETTER <= width ? lines.slice(0, -1).concat(longer) : lines.concat(word);
        }, [' ']).map(function (line) { return line.trim(); }).filter(Boolean);
    }

    /* The figure of a drawn chart with a heading, and its height in pixels. */
    function figure(plot, day) {
        var about = plot.deepbench, width = plot.clientWidth - 2 * MARGIN;
        var title = wrapped(about.title, 0.9 * width).map(function (line) { return '<b>' + deepbench.plain(line) + '</b>'; });
        var rest = [about.sides, 'Results published ' + day].flatMap(function (text) { return wrapped(text, width); });
        var lines = title.concat(rest.map(deepbench.plain)), room = LINE * lines.length + 2 * MARGIN;
        return {
            data: plot.data,
            layout: Object.assign({}, plot.layout, {
                margin: Object.assign({}, plot.layout.margin, {t: plot._fullLayout._size.t + room}),
                title: {text: lines.join('<br>'), font: {size: 13}, x: 0, xref: 'container', xanchor: 'left',
                    y: 1 - MARGIN / (plot.clientHeight + room), yref: 'container', yanchor: 'top', pad: {l: MARGIN}}
            }),
            height: plot.clientHeight + room
        };
    }

    /* Save a drawn chart as `format`, 'png' or 'svg'. */
    function save_picture(plot, format) {
        return deepbench.load('data/catalogue').then(function (catalogue) {
            var found = figure(plot, catalogue.day);
            return Plotly.downloadImage({data: found.data, layout: found.layout}, {format: format, filename: plot.dataset.name,
                width: plot.clientWidth, height: found.height, scale: format === 'png' ? 2 : 1});
        });
    }

    Object.assign(deepbench, {save_picture: save_picture});
})();
