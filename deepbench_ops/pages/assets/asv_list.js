/* asv's list of all lines has thousands of rows: show a hundred, more by a button, and a search by words. */
'use strict';

$(document).ready(function () {
    var AT_ONCE = 100;
    var body = document.getElementById('summarylist-body');
    var limit = AT_ONCE;
    var find = $('<input type="search">').on('input', function () { shorten(AT_ONCE); });
    var count = $('<span role="status">');
    var more = $('<button type="button" class="btn btn-default">').on('click', function () { shorten(limit + AT_ONCE); });
    var above = $('<p class="deepbench-list">').append($('<label>').text('Search lines by words ').append(find), ' ', count);
    var below = $('<p class="deepbench-list">').append(more);

    function shown_table() {
        return $(body).children('table').filter(function () { return this.style.display !== 'none'; });
    }

    /* Show the first `most` rows of the table that hold all words. */
    function shorten(most) {
        var words = find.val().toLowerCase().split(/\s+/).filter(Boolean), found = 0, rows = shown_table().find('tbody > tr');
        limit = most;
        rows.each(function () {
            var text = this.textContent.toLowerCase(), holds = words.every(function (word) { return text.includes(word); });
            found += holds ? 1 : 0;
            this.hidden = !holds || found > limit;
        });
        count.text(Math.min(limit, found) + ' of ' + found + (found === 1 ? ' line' : ' lines'));
        more.text('Show ' + Math.min(AT_ONCE, found - limit) + ' more').prop('hidden', found <= limit);
    }

    /* asv adds a table for each choice at the left, and shows one of them. */
    function follow() {
        $(body).children('table').each(function () {
            if ($(this).data('deepbench')) { return; }
            $(this).data('deepbench', true).on('aftertablesort', function () { shorten(limit); });
            new MutationObserver(function () { shorten(AT_ONCE); }).observe(this, {attributeFilter: ['style']});
        });
        if (shown_table().length) {
            if (body.firstChild !== above[0]) { above.prependTo(body); }
            if (body.lastChild !== below[0]) { below.appendTo(body); }
            shorten(AT_ONCE);
        }
    }

    if (body) { new MutationObserver(follow).observe(body, {childList: true}); }
});
