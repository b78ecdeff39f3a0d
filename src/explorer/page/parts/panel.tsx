import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A titled part of a page. */
export function Panel({
  title,
  aside,
  class: className = "",
  children,
}: {
  readonly title: string;
  /** Content at the other end of the title's line. */
  readonly aside?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class={`panel ${className}`} aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div class="aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}

/** A figure with its name. */
export function Figure({
  name,
  children,
  note,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
  readonly note?: ComponentChildren;
}) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        <span class="figure-value">{children}</span>
        {note !== undefined && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}
