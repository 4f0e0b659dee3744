"""Draws bar charts as small SVG files: horizontal bars on a logarithmic axis, one color for each server.

    svg(title, unit, labels, groups)      `groups`: for each server, a figure or None for each label

The same figures produce the same file. The file has one line for each bar.
"""

import math
from html import escape

COLORS = ("#1f77b4", "#9e9e9e", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf")
LEFT, WIDTH, RIGHT = 240, 560, 90  # widths of the labels, the bars, and the space for the longest bar's figure
BAR, GAP, TOP = 9, 12, 46  # pixels


def figure(value):
    """Formats a number below 100 with three significant digits, and other numbers without decimals: 12.3, 1,234."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def axis(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def svg(title, unit, labels, groups):
    """Returns the file's text. Requires: there is at least one figure, and all figures are positive."""
    figures = [value for values in groups.values() for value in values if value]
    first, last = math.floor(math.log10(min(figures))), math.ceil(math.log10(max(figures)))
    last = max(last, first + 1)

    def x(value):
        return LEFT + WIDTH * (math.log10(value) - first) / (last - first)

    step = BAR * len(groups) + GAP
    bottom = TOP + step * len(labels)
    height = bottom + 40 + 16 * math.ceil(len(groups) / 4)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + RIGHT} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="100%" height="100%" fill="#fff"/><text x="{LEFT}" y="20" font-size="15">{escape(title)}</text>',
    ]
    for power in range(first, last + 1):
        at = x(10**power)
        lines.append(f'<path d="M{at:.0f} {TOP}V{bottom}" stroke="#ddd"/><text x="{at:.0f}" y="{bottom + 14}" text-anchor="middle">{axis(10**power)}</text>')
    for place, label in enumerate(labels):
        top = TOP + step * place
        lines.append(f'<text x="{LEFT - 6}" y="{top + BAR * len(groups) / 2 + 4:.0f}" text-anchor="end">{escape(label)}</text>')
        for number, values in enumerate(groups.values()):
            if not values[place]:
                continue
            wide, y = x(values[place]) - LEFT, top + BAR * number
            lines.append(f'<rect x="{LEFT}" y="{y}" width="{max(wide, 1):.0f}" height="{BAR - 1}" fill="{COLORS[number % len(COLORS)]}"/>'
                         f'<text x="{LEFT + wide + 4:.0f}" y="{y + BAR - 1}" font-size="9">{figure(values[place])}</text>')
    for number, server in enumerate(groups):
        at, y = LEFT + number % 4 * 140, bottom + 36 + 16 * (number // 4)
        lines.append(f'<rect x="{at}" y="{y - 9}" width="10" height="10" fill="{COLORS[number % len(COLORS)]}"/><text x="{at + 15}" y="{y}">{escape(server)}</text>')
    lines.append(f'<text x="{LEFT + WIDTH}" y="{TOP - 8}" text-anchor="end">{escape(unit)}</text></svg>')
    return "\n".join(lines) + "\n"
