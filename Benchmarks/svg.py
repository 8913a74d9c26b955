"""Plots as SVG: lines over a logarithmic axis, readable on light and dark pages."""

COLOURS = ["#c2410c", "#2563eb", "#059669", "#7c3aed", "#a16207", "#64748b"]
WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 170, 40, 50


def short(number):
    """12,000,000 as 12 M."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"


def log10(number):
    import math
    return math.log10(max(number, 1e-9))


def line_plot(title, x_label, y_label, series):
    """`series` is a list of (name, [(x, y), …]); both axes are logarithmic."""
    points = [point for _, line in series for point in line]
    if not points:
        return ""
    x_low, x_high = (f(x for x, _ in points) for f in (min, max))
    y_low, y_high = (f(y for _, y in points) for f in (min, max))
    y_low, y_high = 10 ** int(log10(y_low) // 1), 10 ** -int(-log10(y_high) // 1)

    def x_of(x):
        span = log10(x_high) - log10(x_low) or 1
        return LEFT + (log10(x) - log10(x_low)) / span * (WIDTH - LEFT - RIGHT)

    def y_of(y):
        span = log10(y_high) - log10(y_low) or 1
        return HEIGHT - BOTTOM - (log10(y) - log10(y_low)) / span * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="22" font-size="15" fill="#111827">{title}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle" '
        f'fill="#374151">{x_label}</text>',
        f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle" '
        f'fill="#374151">{y_label}</text>']
    tick = y_low
    while tick <= y_high * 1.001:
        y = y_of(tick)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e5e7eb"/>'
                   f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#374151">'
                   f"{short(tick)}</text>")
        tick *= 10
    for x in sorted({x for x, _ in points}):
        out.append(f'<text x="{x_of(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" '
                   f'fill="#374151">{short(x)}</text>')
    # Names that would overlap move down.
    taken = []
    for index, (name, line) in enumerate(series):
        if not line:
            continue
        colour = COLOURS[index % len(COLOURS)]
        path = "L".join(f"{x_of(x):.1f} {y_of(y):.1f}" for x, y in line)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3" fill="{colour}"/>'
                for x, y in line]
        y = y_of(line[-1][1]) + 4
        while any(abs(y - other) < 14 for other in taken):
            y += 14
        taken.append(y)
        out.append(f'<text x="{WIDTH - RIGHT + 10}" y="{y:.1f}" fill="{colour}">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"
