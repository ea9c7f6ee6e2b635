/* Changes to asv's pages: data from a disk, release names, noise, escaping. Loaded after asv's scripts and before any of
   them runs. Uses public interfaces only: jQuery's transports and prefilters, flot's plugins, and the functions of $.asv. */
'use strict';

(function () {
    var named = document.currentScript.dataset.releases === 'yes';
    var parts = JSON.parse(document.currentScript.dataset.parts);  /* scripts of each page that are loaded when it is opened */

    function escaped(text) {
        return $('<span>').text(String(text)).html();
    }

    /* PARTS ON DEMAND: the grid needs neither flot nor the scripts of the other pages. */

    var asked = {};

    function load(address) {
        asked[address] = asked[address] || new Promise(function (resolve, reject) {
            var script = document.createElement('script');
            script.onload = resolve;
            script.onerror = reject;
            script.src = address;
            document.head.appendChild(script);
        });
        return asked[address];
    }

    /* Show a page again once it has its scripts: they register it when the document is ready. */
    function open(name) {
        return function () {
            parts[name].reduce(function (before, address) { return before.then(function () { return load(address); }); }, Promise.resolve()).then(function () {
                use_flot();
                $(document).ready(function () { $(window).trigger('hashchange'); });
            }, function () { $.asv.ui.network_error(); });
        };
    }

    $(document).ready(function () {
        Object.keys(parts).forEach(function (name) { $.asv.register_page(name, open(name)); });
    });

    /* A line without axes, as asv's grid has them, in place of flot. */
    function small_line(place, series) {
        var points = series[0].data, known = points.filter(function (point) { return typeof point[1] === 'number'; });
        var left = known.length ? known[0][0] : 0, right = known.length ? known[known.length - 1][0] : 1;
        var top = Math.max.apply(null, known.map(function (point) { return point[1]; }));
        var path = '', pen = 'M';
        points.forEach(function (point) {
            if (typeof point[1] !== 'number') { pen = 'M'; return; }
            path += pen + (right > left ? 100 * (point[0] - left) / (right - left) : 50).toFixed(1) + ' ' + (100 - 96 * point[1] / top).toFixed(1);
            pen = 'L';
        });
        $(place).html('<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true"><path d="' + path + '"/></svg>');
    }

    $.plot = small_line;

    /* The grid needs little of Bootstrap: the browser's own tooltips, and a report of errors, which loads it. */
    function plain(text) {
        return new DOMParser().parseFromString(String(text), 'text/html').body.textContent;
    }
    $.fn.tooltip = function (options) { return this.attr('title', plain(options.title)); };
    $.fn.modal = function (action) {
        var place = this;
        load(parts.graphdisplay.find(function (address) { return /bootstrap/.test(address); })).then(function () { place.modal(action); });
        return place;
    };
    var flot_adapted = false;

    function on_page(place) { return $.contains(document.documentElement, $(place)[0]); }

    /* Adapt flot when it is there; the grid keeps its own lines. */
    function use_flot() {
        if (flot_adapted) { return; }
        flot_adapted = true;
        var flot = $.plot;
        $.plot = $.extend(function (place, series, options) {
            if ($(place).hasClass('benchmark-plot')) { return small_line(place, series); }
            if (on_page(place)) { return flot(place, series, options); }
            /* A pop-up that is about to be shown, or is gone again: without a size flot would fail. */
            setTimeout(function () { if (on_page(place)) { flot(place, series, options); } });
            return null;
        }, flot);
        $.plot.plugins.push({
            name: 'deepbench',
            version: '1',
            init: function (plot) {
                plot.hooks.processOptions.push(adapt_plot);
                plot.hooks.processDatapoints.push(place_bars);
                plot.hooks.draw.push(show_noise);
            }
        });
    }

    /* DATA FROM A DISK: as scripts, because a file:// page may not fetch JSON. */

    if (window.location.protocol === 'file:') {
        $.ajaxTransport('+json', function (options) {
            return {
                send: function (headers, complete) {
                    deepbench.load(options.url.split('?')[0]).then(
                        function (data) { complete(200, 'OK', {json: data}); },
                        function () { complete(404, 'Not Found'); });
                },
                abort: function () {}
            };
        });
        /* asv requests an icon as text to find out whether its server runs. */
        $.ajaxTransport('+text', function () {
            return {
                send: function (headers, complete) { complete(200, 'OK', {text: ''}); },
                abort: function () {}
            };
        });
    }

    /* RELEASE NAMES */

    var name_by_revision = {};
    var hash_by_name = {};

    function read_names(index) {
        $.each(index.tags, function (tag, revision) {
            var name = tag.replace(/-(?=[^-]*$)/, ' ');
            name_by_revision[revision] = escaped(name);
            hash_by_name[name] = hash_by_name[tag] =
                index.revision_to_hash[revision].slice(0, index.hash_length);
        });
        /* asv would write every tag above the graph, also those of other frameworks; the x-axis names the releases
           instead. */
        index.tags = {};
    }

    function use_names() {
        var format_hash_string = $.asv.format_hash_string;
        var get_commit_hash = $.asv.get_commit_hash;
        var get_revision = $.asv.get_revision;
        var longest_first = Object.keys(hash_by_name).sort(function (a, b) {
            return b.length - a.length;
        });

        $.asv.get_commit_hash = function (revision) {
            return name_by_revision[revision] || get_commit_hash(revision);
        };
        $.asv.get_revision = function (name) {
            return get_revision(hash_by_name[name] || name);
        };
        /* Addresses keep hashes, since asv reads pairs of them back. */
        $.asv.format_hash_string = function (info) {
            if (info.params && info.params.commits) {
                var commits = info.params.commits.map(function (value) {
                    return longest_first.reduce(function (text, name) {
                        return text.split(name).join(hash_by_name[name]);
                    }, value);
                });
                info = {location: info.location,
                        params: $.extend({}, info.params, {commits: commits})};
            }
            return format_hash_string(info);
        };
    }

    /* Names of the releases that have points, as many as do not overlap. Called before flot knows its own width, so the
       span of the points is used instead. */
    function release_ticks(plot) {
        return function (axis) {
            var place = axis.options.transform || function (x) { return x; };
            var seen = {};
            $.each(plot.getData(), function (i, series) {
                $.each(series.data, function (j, point) {
                    var x = point[0];
                    if (typeof point[1] === 'number' && x >= axis.min && x <= axis.max) {
                        seen[x] = name_by_revision[x];
                    }
                });
            });
            var shown = Object.keys(seen).map(Number).sort(function (a, b) { return a - b; });
            var span = place(shown[shown.length - 1]) - place(shown[0]);
            var pixels = 0.9 * plot.getPlaceholder().width() / (span || 1);
            var last = -Infinity;
            return shown.filter(function (x) {
                var fits = seen[x] && (place(x) - last) * pixels >= 52;
                last = fits ? place(x) : last;
                return fits;
            }).map(function (x) { return [x, seen[x].replace(' ', '<br>')]; });
        };
    }

    /* A PARAMETER AS X-AXIS: asv writes a hundred labels over each other, and its tooltips and links treat the place of a
       bar as a release. */

    /* As many labels as fit next to each other, at seven pixels per letter. */
    function category_ticks(plot) {
        return function (axis) {
            var labels = Object.keys(axis.categories);
            var longest = Math.max.apply(null, labels.map(function (text) { return text.length; }));
            var room = Math.max(1, 0.9 * plot.getPlaceholder().width() / (7 * longest + 10));
            var step = Math.ceil(labels.length / room);
            return labels.map(function (text) { return [axis.categories[text], text]; })
                .filter(function (tick) { return tick[0] % step === 0; });
        };
    }

    /* Place the bars of several lines next to each other: asv's plugin for this computes with the labels as if they were
       numbers, so that two lines of bars disappear. */
    function place_bars(plot, series, datapoints) {
        if (!series.bars.show || series.xaxis.options.mode !== 'categories') {
            return;
        }
        var all = plot.getData();
        var shift = (all.indexOf(series) - (all.length - 1) / 2) * series.bars.barWidth;
        series.data.forEach(function (point, i) {
            datapoints.points[i * datapoints.pointsize] =
                series.xaxis.categories[point[0]] + shift;
        });
    }

    function has_parameter_axis(graph) {
        return $(graph).data('plot').getOptions().deepbench_parameter;
    }

    function show_parameter(event, pos, item) {
        if (!has_parameter_axis(this)) {
            return;
        }
        event.stopImmediatePropagation();
        $('#deepbench-tip').remove();
        if (item) {
            var point = item.series.data[item.dataIndex];
            var unit = $.asv.main_json.benchmarks[$('#title').text()].unit;
            var label = $('<span>').html(String(point[0])).text();
            $('<div id="deepbench-tip">').text($.asv.pretty_unit(point[1], unit) + ' @ ' + label)
                .css({top: item.pageY - 40, left: item.pageX}).appendTo('body');
        }
    }

    function ignore_click(event) {
        var choosing_reference = $('.popover').length > 0;
        if (has_parameter_axis(this) && !choosing_reference) {
            event.stopImmediatePropagation();
        }
    }

    /* Bound before asv binds its own handlers, when it first draws. */
    $(document).ready(function () {
        $('#main-graph').on('plothover', show_parameter).on('plotclick', ignore_click)
            .on('mouseleave', function () { $('#deepbench-tip').remove(); });
    });

    /* asv marks every change in red, also an improvement; a neutral colour only marks its place. */
    var NEUTRAL = {'#d00': '#2a6496', 'rgba(200, 0, 0, 0.2)': 'rgba(42, 100, 150, 0.15)', 'rgba(255,0,0,0.1)': 'rgba(42, 100, 150, 0.1)'};

    function neutral(mark) {
        mark.color = NEUTRAL[mark.color] || mark.color;
    }

    function adapt_plot(plot, options) {
        (options.grid.markings || []).forEach(neutral);
        var axis = options.xaxes[0];
        var words = {'commits': 'releases', 'commit date': 'release date'};
        if (axis.mode === 'categories') {
            axis.ticks = category_ticks(plot);
        }
        if (axis.axisLabel === 'commits' && named) {
            axis.ticks = release_ticks(plot);
            axis.tickFormatter = null;
            axis.tickLength = null;
        }
        options.deepbench_parameter = Boolean(axis.axisLabel) && !(axis.axisLabel in words);
        axis.axisLabel = (named && words[axis.axisLabel]) || axis.axisLabel;
    }

    /* NOISE OF EACH LINE, below the graph: from noise.json, by the graph's file and the place of the line's parameters. */

    function read_noise() {
        var noise_by_graph = {}, read = null;
        function noise() {
            read = read || $.ajax({url: 'noise.json', dataType: 'json'}).then(
                function (found) { noise_by_graph = found; },
                function () { return $.Deferred().resolve(); });
            return read;
        }
        var load_graph_data = $.asv.load_graph_data;
        var filter_graph_data = $.asv.filter_graph_data;
        $.asv.load_graph_data = function (url) {
            return /^graphs\/summary\//.test(url) ? load_graph_data(url) : $.when(load_graph_data(url), noise()).then(function (data) {
                data.deepbench_url = url;
                return data;
            });
        };
        $.asv.filter_graph_data = function (data, x_axis, indices, params) {
            var series = filter_graph_data(data, x_axis, indices, params);
            var known = noise_by_graph[decodeURIComponent(data.deepbench_url || '')];
            if (known && x_axis === 0) {
                series.deepbench_noise = known[params.reduce(function (place, values, k) {
                    return place * values.length + indices[k + 1];
                }, 0)];
            }
            return series;
        };
    }

    function show_noise(plot) {
        if (plot.getPlaceholder().attr('id') !== 'main-graph') {
            return;
        }
        var texts = plot.getData().filter(function (series) {
            return typeof series.data.deepbench_noise === 'number';
        }).map(function (series) {
            var percent = (100 * series.data.deepbench_noise).toPrecision(2) + ' %';
            return series.label ? $('<span>').html(series.label).text() + ': ' + percent : percent;
        });
        $('#deepbench-noise').remove();
        if (texts.length > 0) {
            $('<p id="deepbench-noise">').text(
                'Noise (spread between processes of one release): ' + texts.join('; ')
            ).insertAfter('#main-graph');
        }
    }

    /* ESCAPING of texts that asv writes as HTML although they come from files: descriptions of machines, code, headings. */

    function escape_descriptions(index) {
        $.each(index.machines, function (machine, details) {
            var safe = {};
            $.each(details, function (key, value) { safe[escaped(key)] = escaped(value); });
            index.machines[machine] = safe;
        });
        $.each(index.benchmarks, function (name, benchmark) {
            benchmark.code = escaped(benchmark.code || '');
        });
    }

    function safe_headings() {
        var make_panel = $.asv.ui.make_value_selector_panel;
        var words = named ? {commit: 'release', branch: 'framework'} : {};
        $.asv.ui.make_value_selector_panel = function (nav, heading, values, setup) {
            return make_panel(nav, escaped(words[heading] || heading), values, setup);
        };
    }

    /* The time when the first page was there, as on all our pages. */
    function shown() { document.body.dataset.usable = document.body.dataset.ready = Math.round(performance.now()); }

    /* The prefilter's callback runs before asv's own gets the index. */
    $.ajaxPrefilter('json', function (options) {
        if (/^index\.json(\?|$)/.test(options.url)) {
            options.success = function (index) {
                escape_descriptions(index);
                safe_headings();
                if (named) {
                    read_names(index);
                    use_names();
                    read_noise();
                }
                requestAnimationFrame(function () { setTimeout(shown); });
            };
        }
    });

})();
