import type { ViewProps } from "../router.ts";

export function NotFound({ route }: ViewProps) {
  return (
    <article class="page narrow">
      <h1>Nothing here</h1>
      <p>
        There is no page <code>/{route.parts.join("/")}</code>. Search by the number of a block, by a hash, or
        by an address.
      </p>
      <p>
        <a href="/">Back to the overview</a>
      </p>
    </article>
  );
}
