/* Axes with round labels and SI units, three labels or more where there is room. Plotly itself gives a narrow
   logarithmic axis one label or none. */
'use strict';

(function () {
    var ROOM = {x: 95, y: 45};  /* pixels for a label */
    var FEWEST = 5, MOST = 9;
    var NARROW = 1.1;  /* least ratio of the ends of a range, so that its labels differ */
    var DAY = 86400e3, FEW_DAYS = 60;

    /* Round values from `low` to `high` at equal distances, at most `most`. */
    function linear_ticks(low, high, most) {
        var magnitude = Math.pow(10, Math.floor(Math.log10((high - low) / most)));
        var step = [1, 2, 5, 10, 20].map(function (factor) { return factor * magnitude; })
            .find(function (each) { return Math.floor(high / each) - Math.ceil(low / each) < most; });
        var found = [];
        for (var count = Math.ceil(low / step); count <= high / step; count += 1) {
            found.push(Number((count * step).toPrecision(12)));
        }
        return found;
    }

    /* Round values from `low` to `high` for a logarithmic axis, at most `most`. */
    function log_ticks(low, high, most) {
        if (high < 10 * low) { return linear_ticks(low, high, most); }
        var first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
        function values(mantissas, decades) {
            var found = [];
            for (var power = Math.ceil(first / decades) * decades; power <= last; power += decades) {
                mantissas.forEach(function (mantissa) { found.push(Number((mantissa + 'e' + power))); });
            }
            return found.filter(function (value) { return value >= low && value <= high; });
        }
        var choices = [values([1, 2, 5], 1), values([1, 3], 1)];
        for (var decades = 1; decades <= last - first; decades += 1) { choices.push(values([1], decades)); }
        return choices.find(function (found) { return found.length <= most; }) || choices.pop();
    }

    /* Round ratios for a logarithmic axis, with the same steps on both sides of 1. */
    function ratio_ticks(low, high, most) {
        var reach = Math.max(high, 1 / low);
        var up = log_ticks(1, reach, Math.ceil(most / 2) + 1).filter(function (value) { return value > 1; });
        return up.map(function (value) { return 1 / value; }).reverse().concat(1, up)
            .filter(function (value) { return value >= low && value <= high; });
    }

    /* Powers of 2 from `low` to `high`. */
    function doubling_ticks(low, high) {
        var found = [];
        for (var value = Math.pow(2, Math.ceil(Math.log2(low))); value <= high; value *= 2) { found.push(value); }
        return found;
    }

    /* The numbers of all traces along an axis; positive ones for a logarithmic axis. */
    function numbers(traces, letter, log) {
        return traces.flatMap(function (trace) { return trace[letter]; }).filter(function (value) {
            return typeof value === 'number' && isFinite(value) && (!log || value > 0);
        });
    }

    /* The ends of a range that shows all values with a margin; an end at zero has no margin. */
    function range(values, log) {
        var low = Math.min.apply(null, values), high = Math.max.apply(null, values);
        if (log) {
            var middle = Math.sqrt(low * high), half = Math.pow(Math.max(high / low, NARROW), 0.55);
            return [middle / half, middle * half];
        }
        var least = (NARROW - 1) * Math.max(Math.abs(low), Math.abs(high)) || 1;
        var room = 0.05 * (high - low) + 0.5 * Math.max(0, least - (high - low));
        return [low - (low === 0 ? 0 : room), high + (high === 0 ? 0 : room)];
    }

    /* Plotly's settings of the labels between the ends of a range; on a logarithmic axis the ends are exponents. */
    function labels(own, ends, letter, pixels) {
        var most = Math.max(FEWEST, Math.min(MOST, Math.floor(pixels / ROOM[letter])));
        var log = own.type === 'log';
        var shown = ends.slice().sort(function (a, b) { return a - b; }).map(function (end) { return log ? Math.pow(10, end) : end; });
        var values = (own.ticks || (log ? log_ticks : linear_ticks))(shown[0], shown[1], most);
        return {tickmode: 'array', tickvals: values, ticktext: values.map(function (value) { return own.label(value) || '0'; })};
    }

    /* Plotly's axis from ours. `label(value)` is the text of a label; without it labels are Plotly's.
       `ticks(low, high, most)` returns the values with labels; `including` are values that the range always includes. */
    function axis(own, letter, traces, pixels) {
        var plotlys = Object.assign({}, own), log = own.type === 'log';
        ['label', 'ticks', 'including'].forEach(function (name) { delete plotlys[name]; });
        if (own.type === 'date') { return Object.assign(plotlys, days(traces, letter)); }
        var values = own.label ? numbers(traces, letter, log).concat(own.including || []) : [];
        if (!values.length) { return plotlys; }
        var ends = range(values, log).map(function (end) { return log ? Math.log10(end) : end; });
        return Object.assign(plotlys, {range: ends}, labels(own, ends, letter, pixels));
    }

    /* A range of a few days gets a month before and after: Plotly would label its milliseconds. */
    function days(traces, letter) {
        var times = traces.flatMap(function (trace) { return trace[letter]; }).map(Date.parse);
        var low = Math.min.apply(null, times), high = Math.max.apply(null, times);
        return high - low > FEW_DAYS * DAY ? {} : {range: [low - 30 * DAY, high + 30 * DAY]};
    }

    Object.assign(deepbench, {axis: axis, axis_labels: labels, ratio_ticks: ratio_ticks, doubling_ticks: doubling_ticks,
        log_ticks: log_ticks, linear_ticks: linear_ticks});
})();
