"""The page's one style sheet and its one script; both stand inside the page."""

STYLE = """
:root{color-scheme:light dark;--bg:#f7f7f5;--card:#fff;--ink:#1c1f23;--soft:#575e68;--line:#e2e2dd;--code:#f0f0ec;
--good:#11653c;--good-bg:#e2f4e9;--bad:#a61b1b;--bad-bg:#fdeaea;--warn:#855300;--warn-bg:#fdf1d8;--mute:#575e68;
--mute-bg:#ecece8;--edge:rgb(0 0 0/.28);--base:#1d5fd1;--cand:#c2570c;--mark:#a61b1b;--gate-baseline-first:var(--base);
--gate-candidate-first:var(--cand);--shadow:0 1px 2px rgb(0 0 0/.05),0 4px 16px rgb(0 0 0/.04)}
@media (prefers-color-scheme:dark){:root{--bg:#13151a;--card:#1b1e25;--ink:#e9ebef;--soft:#a4acb8;--line:#2e333d;
--code:#262a33;--good:#6fd79e;--good-bg:#14301f;--bad:#ff9c98;--bad-bg:#3b191b;--warn:#f2c063;--warn-bg:#362809;
--mute:#a4acb8;--mute-bg:#262a33;--edge:rgb(255 255 255/.3);--base:#7eb0ff;--cand:#ffa65c;--mark:#ff9c98;--shadow:none}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans",sans-serif}
a{color:inherit;text-underline-offset:.18em}
a:focus-visible,button:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--base);
outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem}
main,header.top>div,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header.top{border-bottom:1px solid var(--line);background:var(--card);border-top:6px solid var(--tone)}
header.top>div{padding:2rem 1.25rem 1.75rem}
.good{--tone:var(--good);--tone-bg:var(--good-bg)}.bad{--tone:var(--bad);--tone-bg:var(--bad-bg)}
.warn{--tone:var(--warn);--tone-bg:var(--warn-bg)}.mute{--tone:var(--mute);--tone-bg:var(--mute-bg)}
.kicker{margin:0 0 .35rem;color:var(--soft);font-size:.9rem;overflow-wrap:anywhere}
h1{margin:0;font-size:clamp(1.7rem,1.1rem + 3vw,3rem);line-height:1.1;letter-spacing:-.02em;color:var(--tone);
overflow-wrap:anywhere}
h1 .beside{display:inline-block;margin-left:.4em;font-size:.5em;color:var(--tone);vertical-align:.25em}
h2{margin:2.75rem 0 1rem;font-size:1.35rem;letter-spacing:-.01em}
h3{margin:0;font-size:1.12rem;overflow-wrap:anywhere}h4{margin:1.4rem 0 .5rem;font-size:.95rem}
.lead{margin:.6rem 0 0;font-size:1.1rem;max-width:48rem}
.reasons{margin:1rem 0 0;padding-left:1.1rem;max-width:60rem}.reasons li{margin:.25rem 0;overflow-wrap:anywhere}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(max(8.5rem,calc((100% - (var(--most) - 1)*1.5rem)
/var(--most))),1fr));gap:.9rem 1.5rem;margin:1.25rem 0 0}
.facts dt{color:var(--soft);font-size:.8rem}.facts dd{margin:0;font-variant-numeric:tabular-nums;font-weight:600;
overflow-wrap:anywhere}
.arms{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:.75rem;margin:1.25rem 0 0}
.arms p{margin:0;padding:.65rem .9rem;border:1px solid var(--line);border-radius:10px;overflow-wrap:anywhere;
font-size:.92rem;border-left:4px solid var(--arm)}
.arms b{display:block;font-size:.8rem;color:var(--soft);font-weight:500}
.arms i{display:block;font-size:.85rem;color:var(--soft);font-style:normal;margin-top:.15rem}
.base{--arm:var(--base)}.cand{--arm:var(--cand)}
.chip{display:inline-block;padding:.12rem .6rem;border-radius:99px;background:var(--tone-bg);color:var(--tone);
font-size:.82rem;font-weight:650;white-space:nowrap}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:12px;background:
linear-gradient(to right,var(--card) 40%,transparent) 0 0/3rem 100% no-repeat local,
linear-gradient(to left,var(--card) 40%,transparent) 100% 0/3rem 100% no-repeat local,
linear-gradient(to right,var(--edge),transparent) 0 0/1rem 100% no-repeat scroll,
linear-gradient(to left,var(--edge),transparent) 100% 0/1rem 100% no-repeat scroll,var(--card)}
.more{display:none;margin:.3rem .2rem 0;text-align:right;font-size:.82rem;font-weight:600}.wider+.more{display:block}
table{border-collapse:collapse;width:100%;font-size:.9rem}
caption{text-align:left;padding:.7rem .9rem .2rem;color:var(--soft);font-size:.82rem}
th,td{padding:.5rem .9rem;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--soft);font-weight:500;font-size:.8rem;white-space:nowrap}
tbody th{font-weight:600}.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font:.86em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;background:var(--code);
padding:.08em .35em;border-radius:5px;overflow-wrap:anywhere}
code.path{display:inline-block;max-width:100%;overflow-x:auto;white-space:nowrap;overflow-wrap:normal;
vertical-align:bottom;scrollbar-width:thin}
table code,.size{white-space:nowrap}table code.path{max-width:none;overflow:visible}
table .copy{flex-wrap:nowrap;max-width:none}
.copy{display:inline-flex;flex-wrap:wrap;gap:.2rem .35rem;align-items:center;max-width:100%}
.facts code{white-space:nowrap}
button{display:none;font:inherit;font-size:.75rem;padding:.1rem .5rem;border:1px solid var(--line);border-radius:6px;
background:var(--card);color:var(--soft);cursor:pointer;white-space:nowrap}
.js button{display:inline-block}
button:hover{color:var(--ink);border-color:var(--soft)}
.matrix{display:grid;grid-template-columns:5.5rem repeat(3,1fr);gap:.5rem}
.matrix .head{color:var(--soft);font-size:.8rem;align-self:end}.matrix .side{font-weight:600;align-self:center}
.cell{display:block;min-height:4.6rem;padding:.6rem .8rem;border-radius:10px;background:var(--tone-bg);
color:var(--tone);text-decoration:none;border:1px solid transparent;font-size:.85rem}
a.cell:hover{border-color:var(--tone)}.cell b{display:block;font-size:.95rem}
.cell.none{background:repeating-linear-gradient(135deg,transparent 0 6px,var(--mute-bg) 6px 8px);color:var(--soft);
border:1px dashed var(--line)}
article{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.25rem;margin:0 0 1.25rem;
box-shadow:var(--shadow);border-left:5px solid var(--tone)}
.title{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center}.sub{margin:.15rem 0 0;color:var(--soft);
font-size:.9rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19.5rem),1fr));gap:1rem;margin-top:1.2rem}
.charts.four{grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));max-width:58rem}
figure{margin:0;container-type:inline-size}
figcaption{font-size:.85rem;font-size:3.6cqw;color:var(--soft);margin-bottom:.25rem}
figcaption b{color:var(--ink);font-weight:600}
svg{display:block;width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
.axis{stroke:var(--line);stroke-width:1}.la{stroke:var(--base);stroke-width:4.5;fill:none;opacity:.5;stroke-linejoin:round}
.lb{stroke:var(--cand);stroke-width:1.8;fill:none;stroke-dasharray:6 4}
.band{fill:var(--cand);opacity:.35;stroke:var(--cand)}.pa{fill:var(--base)}.pb{fill:var(--cand)}
.part{stroke:var(--mark);stroke-width:1.4;stroke-dasharray:2 3}svg .partword{fill:var(--mark);font-weight:600}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.82rem;color:var(--soft);margin:.9rem 0 0}
.legend i{display:inline-block;width:1.6rem;vertical-align:middle;margin-right:.4rem;
border-top:5px solid color-mix(in srgb,var(--base) 50%,transparent)}
.legend i.b{border-top:2px dashed var(--cand)}
.part-box{margin-top:1.2rem;padding:1rem;border-radius:10px;background:var(--bad-bg)}
.warn .part-box{background:var(--warn-bg)}
.part-box h4{margin-top:0}.part-box p{margin:.3rem 0}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem;margin-top:.8rem}
.events{list-style:none;margin:.3rem 0 0;padding:0;font-size:.83rem;font-variant-numeric:tabular-nums}
.events li{display:grid;grid-template-columns:8.2rem 1fr;gap:.6rem;padding:.12rem 0;color:var(--soft)}
.events li.from{color:var(--ink)}.events li span:first-child{text-align:right}
.checks{list-style:none;margin:.6rem 0 0;padding:0;font-size:.9rem}
.checks li{display:grid;grid-template-columns:8.5rem 1fr;gap:.2rem .8rem;padding:.3rem 0;
border-top:1px solid var(--line)}.checks .rule,.checks .state{color:var(--tone);font-weight:600}
.checks .derived{color:var(--soft)}
summary{cursor:pointer;font-weight:550;margin-top:1rem;font-size:.92rem}
details pre{overflow:auto;max-height:26rem;background:var(--code);padding:.8rem;border-radius:10px;font-size:.8rem}
.note{color:var(--soft);font-size:.92rem}ul.plain{padding-left:1.1rem}ul.plain li{margin:.3rem 0}
.gate{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.25rem;overflow-x:auto}
.gate pre{white-space:pre-wrap;font-size:.85rem}
footer{color:var(--soft);font-size:.85rem;padding:2rem 1.25rem 3rem}
@media (max-width:40rem){body{font-size:15px}.matrix{grid-template-columns:repeat(3,1fr)}.matrix .side{grid-column:1/-1;
margin-top:.4rem}.matrix .corner{display:none}.matrix .head{align-self:stretch}
.matrix .head span{display:block;white-space:nowrap}.cell{padding:.5rem .55rem;min-height:4rem;font-size:.78rem}
article{padding:1rem}.checks li{grid-template-columns:1fr}.events li{grid-template-columns:6.8rem 1fr}
main,header.top>div,footer{padding-left:1rem;padding-right:1rem}}
@media print{body{background:#fff}article{break-inside:avoid;box-shadow:none}button{display:none!important}}
"""

SCRIPT = """
document.documentElement.classList.add("js");
const wider=()=>{for(const s of document.querySelectorAll(".scroll"))
s.classList.toggle("wider",s.scrollWidth>s.clientWidth+1)};
wider();addEventListener("resize",wider);addEventListener("toggle",wider,true);
document.addEventListener("click",async e=>{const b=e.target.closest("button[data-copy]");if(!b)return;
const t=b.dataset.copy;try{await navigator.clipboard.writeText(t)}catch{const a=document.createElement("textarea");
a.value=t;document.body.append(a);a.select();document.execCommand("copy");a.remove()}
b.textContent="copied";setTimeout(()=>{b.textContent="copy"},1500)});
"""
