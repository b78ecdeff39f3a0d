import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Hidden {
  readonly before: boolean;
  readonly after: boolean;
}

const NOTHING: Hidden = { before: false, after: false };
/** Part of the box by which a click scrolls, so that a cut column is whole afterwards. */
const STEP = 0.7;

/**
 * A box for content that may be wider than the page, such as tables on a phone. It scrolls by itself: where more content
 * follows, its edge fades and has an arrow, and it is reachable by keyboard.
 */
export function Sideways({
  class: className = "",
  children,
}: {
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState(NOTHING);

  useEffect(() => {
    const { current: element } = box;
    if (element === null) return undefined;
    const measure = (): void => {
      const now = hiddenIn(element);
      setHidden((was) => (was.before === now.before && was.after === now.after ? was : now));
    };
    const resizing = new ResizeObserver(measure);
    resizing.observe(element);
    for (const child of element.children) resizing.observe(child);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      resizing.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  const isCut = hidden.before || hidden.after;
  const state = `${hidden.before ? "more-before" : ""} ${hidden.after ? "more-after" : ""}`;
  return (
    <div class={`sideways ${className} ${state}`}>
      <div
        class="scroll"
        ref={box}
        {...(isCut && { tabIndex: 0, role: "group", "aria-label": "Scrolls sideways" })}
      >
        {children}
      </div>
      {hidden.before && <Arrow box={box} direction={-1} />}
      {hidden.after && <Arrow box={box} direction={1} />}
    </div>
  );
}

/** Zoom may lose a pixel by rounding. */
function hiddenIn({ scrollLeft, scrollWidth, clientWidth }: HTMLElement): Hidden {
  return { before: scrollLeft > 1, after: scrollLeft + clientWidth < scrollWidth - 1 };
}

function Arrow({
  box,
  direction,
}: {
  readonly box: { readonly current: HTMLElement | null };
  readonly direction: 1 | -1;
}) {
  const scroll = (): void => {
    const { current: element } = box;
    element?.scrollBy({ left: direction * STEP * element.clientWidth, behavior: "smooth" });
  };
  const name = direction === 1 ? "right" : "left";
  return (
    <button type="button" class={`arrow ${name}`} aria-label={`Scroll ${name}`} onClick={scroll}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={direction === 1 ? "M6 3.500l4.500 4.500L6 12.500" : "M10 3.500L5.500 8l4.500 4.500"} />
      </svg>
    </button>
  );
}
