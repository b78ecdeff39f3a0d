import type { ComponentChildren } from "preact";

/** Names and values, one to a line. */
export function Fields({ children }: { readonly children: ComponentChildren }) {
  return <dl class="fields">{children}</dl>;
}

export function Field({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="field-row">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
