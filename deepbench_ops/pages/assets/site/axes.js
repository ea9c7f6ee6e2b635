/* Axes with round labels and SI units, three labels or more where there is room, and at least two. */
'use strict';

(function () {
    var ROOM = {x: 95, y: 45};  /* pixels for a label */
    var FEWEST = 5, MOST = 9;
    var NARROW = 1.1;  /* least ratio of the ends of a range, so that its labels differ */
    var DAY = 86400e3;

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

    /* Powers of 2 from `low` to `high`. */
    function doubling_ticks(low, high) {
        var found = [];
        for (var value = Math.pow(2, Math.ceil(Math.log2(low))); value <= high; value *= 2) { found.push(value); }
        return found;
    }

    /* The ends of a range that shows all values with a margin; an end at zero has no margin. */
    function range(values, log) {
        var low = Math.min.apply(null, values), high = Math.max.apply(null, values);
        if (log) {
            var middle = Math.sqrt(low) * Math.sqrt(high), half = Math.pow(Math.max(high / low, NARROW), 0.55);
            return [middle / half, middle * half];
        }
        var least = (NARROW - 1) * Math.max(Math.abs(low), Math.abs(high)) || 1;
        var room = 0.05 * (high - low) + 0.5 * Math.max(0, least - (high - low));
        return [low - (low === 0 ? 0 : room), high + (high === 0 ? 0 : room)];
    }

    /* Days from `low` to `high`, in milliseconds, that begin a year, a half or quarter of one, or a month: at most `most`. */
    function date_ticks(low, high, most) {
        var first = new Date(low).getUTCFullYear(), last = new Date(high).getUTCFullYear() + 1;
        var choices = [1, 3, 6, 12, 24, 60, 120].map(function (months) {
            var found = [];
            for (var month = 12 * (first - first % Math.max(1, months / 12)); month <= 12 * last; month += months) { found.push(Date.UTC(Math.floor(month / 12), month % 12)); }
            return found.filter(function (time) { return time >= low && time <= high; });
        });
        return choices.find(function (found) { return found.length <= most; }) || choices.pop();
    }

    function day_text(time) {
        var date = new Date(time), month = date.getUTCMonth();
        return (month ? date.toLocaleString('en', {month: 'short', timeZone: 'UTC'}) + ' ' : '') + date.getUTCFullYear();
    }

    /* As many of an axis's names as fit next to each other. */
    function names_axis(own, from, to) {
        var step = Math.abs(to - from) / own.names.length, longest = Math.max.apply(null, own.names.map(function (name) { return name.length; }));
        var every = Math.ceil((7 * longest + 12) / step);
        return {
            at: function (name) { return from + (own.names.indexOf(name) + 0.5) * (to - from) / own.names.length; },
            ticks: own.names.filter(function (_, place) { return place % every === 0; }).map(function (name) { return {value: name, text: name}; })
        };
    }

    /* An axis between two pixels, {at, ticks}: `at(value)` is a value's pixel, ticks are [{value, text}]. `own` has type 'linear', 'log',
       'date' or 'names'; names: those of the last; label(value), ticks(low, high, most), and `including`, values that it always shows. */
    function axis_between(own, values, letter, from, to) {
        if (own.type === 'names') { return names_axis(own, from, to); }
        var date = own.type === 'date', log = own.type === 'log', most = Math.max(date ? 2 : FEWEST, Math.min(MOST, Math.floor(Math.abs(to - from) / ROOM[letter])));
        function number(value) { return date ? Date.parse(value) : value; }
        var known = values.map(number).filter(function (value) { return isFinite(value) && (!log || value > 0); }).concat(own.including || []);
        var ends = known.length ? (date ? day_range : range)(known, log) : [1, 2];
        var place = log ? Math.log : function (value) { return value; };
        var scaled = deepbench.scale(place(ends[0]), place(ends[1]), from, to);
        var ticks = date ? date_ticks(ends[0], ends[1], most) : (own.ticks || (log ? log_ticks : linear_ticks))(ends[0], ends[1], most);
        return {
            at: function (value) { return scaled(place(number(value))); },
            ticks: ticks.map(function (value) { return {value: date ? new Date(value).toISOString().slice(0, 10) : value, text: date ? day_text(value) : own.label(value) || '0'}; })
        };
    }

    /* At least a year, so that an axis of days has several labels. */
    function day_range(times) {
        var low = Math.min.apply(null, times), high = Math.max.apply(null, times), room = Math.max(0.02 * (high - low), (366 * DAY - (high - low)) / 2);
        return [low - room, high + room];
    }

    Object.assign(deepbench, {doubling_ticks: doubling_ticks, log_ticks: log_ticks, axis_between: axis_between});
})();
