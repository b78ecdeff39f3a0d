import uPlot from "uplot";

export interface PlotData {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

export interface PlotProps extends PlotData {
  /** Description for screen readers. */
  readonly label: string;
  readonly kind?: "bars" | "line";
  readonly height?: number;
  /** Formats a value of y, under the pointer and at the axis. */
  readonly show: (value: number) => string;
  /** Formats a value of x at the axis; a whole number as it is when absent. */
  readonly showX?: (value: number) => string;
}

/** Draws with the element's current colours. */
export function drawPlot(
  element: HTMLElement,
  { x, y }: PlotData,
  { kind, height, show, showX }: Pick<Required<PlotProps>, "kind" | "height" | "show" | "showX">,
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
      padding: [8, ({ data }: Drawn) => halfOfLastLabel(data, showX), 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: ({ data: [values] }, min, max) => sidesOf(values, { min, max }, kind) },
        y: { range: (_, min, max) => rangeOf(min, max, kind) },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 22,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500],
          values: (_, splits) => splits.map(showX),
        },
        {
          ...axis,
          grid: { stroke: withAlpha(ink), width: 1 },
          size: 46,
          splits: (_, __, min, max) => splitsOf(min, max),
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

/** Upper end of the axis, as a multiple of the highest value. */
const MARGIN = 1.08;

/**
 * The range of the axis. It begins at zero, so that heights can be compared. A line far from zero, such as times between
 * blocks, would look flat: its range begins below its lowest value.
 */
function rangeOf(min: number, max: number, kind: "bars" | "line"): [number, number] {
  if (kind === "line" && min < max && 2 * min > max) return [min - (max - min), max + (max - min)];
  return [0, MARGIN * Math.max(1, max)];
}

/**
 * The range of x. Bars have it from the first to the last one, with room for their outer halves: the range that the library gives for a
 * single value begins at zero. A line has the range that is given.
 */
function sidesOf(
  values: uPlot.AlignedData[0],
  { min, max }: { readonly min: number; readonly max: number },
  kind: "bars" | "line",
): [number, number] {
  if (kind === "line") return [min, max];
  return [(values[0] ?? min) - HALF_A_BAR, (values.at(-1) ?? max) + HALF_A_BAR];
}

const HALF_A_BAR = 0.6;

/**
 * Marks of the axis: zero, the highest value and the middle; or the lowest and the highest value if the range begins above
 * zero.
 */
function splitsOf(min: number, max: number): number[] {
  if (min === 0) return [0, max / MARGIN / 2, max / MARGIN];
  const third = (max - min) / 3;
  return [min + third, max - third];
}

/** The plot has no data yet at its first call. */
interface Drawn {
  readonly data?: uPlot.AlignedData;
}

/** Room for the right half of the last label, which would be cut off. */
function halfOfLastLabel(data: uPlot.AlignedData | undefined, showX: (value: number) => string): number {
  const newest = data?.[0].at(-1);
  const label = newest === undefined ? "" : showX(newest);
  return Math.max(4, Math.ceil((DIGIT_WIDTH * label.length) / 2));
}

/** Width of a digit in the axis's font, in pixels, with some room. */
const DIGIT_WIDTH = 7;

function colours(element: HTMLElement): CSSStyleDeclaration {
  return getComputedStyle(element);
}

function withAlpha(colour: string): string {
  return `color-mix(in srgb, ${colour} 16%, transparent)`;
}
