"""How areas look, in light and in dark: colours are those of the page, or the few below."""

from __future__ import annotations

STYLE = """<style>
.hw{font-size:13px;line-height:1.45;margin:2px 0 6px;color:var(--jp-content-font-color1,inherit)}
.hw .hw-state{display:flex;flex-wrap:wrap;gap:2px 14px;align-items:baseline;font-size:12px;margin:0 0 6px}
.hw .hw-state b{font-weight:600}
.hw .hw-state i{font-style:normal;opacity:.62;margin-right:4px}
.hw .hw-cut{max-width:26em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;display:inline-block;
vertical-align:bottom}
.hw .hw-word{font-weight:600}
.hw .hw-word::before{content:"";display:inline-block;width:8px;height:8px;border-radius:50%;margin-right:6px;
background:currentColor}
.hw .hw-running,.hw .hw-done,.hw .hw-up{color:#1a9850}
.hw .hw-starting{color:#2a78d6}
.hw .hw-waiting{color:#c98500}
.hw .hw-failed{color:#d6402b}
.hw .hw-stopped{color:#8a8a8a}
.hw .hw-note{opacity:.62;font-size:12px;margin:4px 0}
.hw .hw-wide{overflow-x:auto;max-width:100%}
.hw table.hw-table{border-collapse:collapse;border:0;margin:0 0 4px;font-size:13px;
font-variant-numeric:tabular-nums;table-layout:auto}
.hw table.hw-table th,.hw table.hw-table td{text-align:left;padding:3px 9px 3px 6px;white-space:nowrap;
max-width:36em;overflow:hidden;text-overflow:ellipsis;vertical-align:top;border:0;background:transparent;
color:inherit}
.hw table.hw-table th{font-weight:600;border-bottom:1px solid rgba(128,128,128,.55)}
.hw table.hw-table td{border-bottom:1px solid rgba(128,128,128,.16)}
.hw table.hw-table tbody tr,.hw table.hw-table tbody tr:nth-child(odd){background:transparent}
.hw table.hw-table tbody tr:hover{background:rgba(128,128,128,.1)}
.hw table.hw-table th.hw-right,.hw table.hw-table td.hw-right{text-align:right}
.hw table.hw-table td.hw-null{opacity:.4;font-style:italic}
.hw table.hw-table td.hw-new{animation:hw-flash 2.4s ease-out}
@keyframes hw-flash{0%,25%{background-color:rgba(255,196,0,.6)}100%{background-color:rgba(255,196,0,0)}}
.hw svg{max-width:100%;height:auto;font-size:12px;display:block;margin:2px 0 4px}
.hw svg text{fill:currentColor;dominant-baseline:central}
.hw svg .hw-label{opacity:.75}
.hw svg .hw-bar{fill:#2a78d6}
.hw svg .hw-line{fill:none;stroke:#2a78d6;stroke-width:2;stroke-linejoin:round}
.hw svg .hw-dot{fill:#2a78d6}
.hw svg .hw-grid{stroke:currentColor;opacity:.15}
.hw svg .hw-new{animation:hw-glow 2.4s ease-out}
@keyframes hw-glow{0%,25%{fill:#f0a500}100%{fill:#2a78d6}}
.hw pre.hw-error{color:#d6402b;background:transparent;white-space:pre-wrap;margin:4px 0;font-size:12px}
@media (prefers-reduced-motion:reduce){.hw .hw-new{animation:none}}
</style>"""
