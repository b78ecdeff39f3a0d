import uPlot from "uplot";
import type { PlotData, PlotProps } from "./plot.tsx";

/** Draws in the colours that the element has now. */
export function drawPlot(
  element: HTMLElement,
  { x, y }: PlotData,
  { kind, height, show }: Pick<Required<PlotProps>, "kind" | "height" | "show">,
): uPlot {
  const { color: ink, accentColor: accent, fontFamily } = colours(element);
  const axis = {
    stroke: ink,
    font: `11px ${fontFamily}`,
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [0.72, 24], radius: 0.2 });
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      padding: [8, 4, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: { range: (_, __, max) => [0, 1.08 * Math.max(1, max)] } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 22,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500],
          values: (_, splits) => splits.map(String),
        },
        {
          ...axis,
          grid: { stroke: withAlpha(ink), width: 1 },
          size: 46,
          splits: (_, __, min, max) => [min, max / 2.16, max / 1.08],
          values: (_, splits) => splits.map((value) => (value === 0 ? "" : show(value))),
        },
      ],
      series: [
        {},
        {
          stroke: accent,
          fill: kind === "bars" ? accent : `color-mix(in srgb, ${accent} 14%, transparent)`,
          width: kind === "bars" ? 0 : 1.5,
          points: { show: false },
          ...(kind === "bars" && bars !== undefined && { paths: bars }),
        },
      ],
    },
    [[...x], [...y]],
    element,
  );
}

function colours(element: HTMLElement): CSSStyleDeclaration {
  return getComputedStyle(element);
}

function withAlpha(colour: string): string {
  return `color-mix(in srgb, ${colour} 16%, transparent)`;
}
