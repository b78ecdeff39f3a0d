import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { onThemeChange } from "../theme.ts";
import type { PlotData, PlotProps } from "./drawPlot.ts";

/** A small plot. Its library is loaded after the rest of the page. */
export function Plot({ x, y, label, kind = "bars", height = 120, show, showX = String }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const newest = useRef<PlotData>({ x, y });
  newest.current = { x, y };

  useEffect(() => {
    let isGone = false;
    let stop = (): void => undefined;
    void import("./drawPlot.ts").then(({ drawPlot }) => {
      const { current: element } = place;
      if (isGone || element === null) return;
      const draw = (): void => {
        plot.current?.destroy();
        plot.current = drawPlot(element, newest.current, { kind, height, show, showX });
      };
      draw();
      const offTheme = onThemeChange(draw);
      const resizing = new ResizeObserver(() => {
        plot.current?.setSize({ width: element.clientWidth, height });
      });
      resizing.observe(element);
      stop = () => {
        offTheme();
        resizing.disconnect();
        plot.current?.destroy();
        plot.current = undefined;
      };
    });
    return () => {
      isGone = true;
      stop();
    };
  }, [kind, height]);

  useEffect(() => {
    plot.current?.setData([[...x], [...y]]);
  }, [x, y]);

  return <div class="plot" ref={place} role="img" aria-label={label} style={{ minHeight: `${height}px` }} />;
}
