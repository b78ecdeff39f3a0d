import { useState } from "preact/hooks";
import { highlight } from "../../chain/highlight.ts";
import { useLoaded } from "../../chain/hooks.ts";
import { sourcesOf, type VerifiedContract } from "../../chain/verification.ts";
import { messageOf, showNumber, showText } from "../../format.ts";
import { Panel } from "../../parts/panel.tsx";

/** Most characters shown of a source. */
const SHOWN = 200_000;
/** Most sources listed. */
const LISTED = 200;

/** The sources of a verified contract. All of it is text that its deployer or anybody wrote. */
export function Sources({
  address,
  contract,
}: {
  readonly address: string;
  readonly contract: VerifiedContract;
}) {
  const { name, compiler, isExact } = contract;
  const { value: sources = [], error } = useLoaded(() => sourcesOf(address), [address]);
  return (
    <Panel
      title="Sources"
      aside={
        <span class={`badge ${isExact ? "good" : "plain"}`}>{isExact ? "exact match" : "same code"}</span>
      }
    >
      <p class="note">
        This node compiled {showText(name, 60)} with solc {showText(compiler, 60)} and got the code of this
        contract
        {isExact
          ? "."
          : ", but for the hash of its metadata: names and comments may differ from the deployer’s."}
      </p>
      <div class="sources">
        {sources.slice(0, LISTED).map(({ name: path, content }) => (
          <Source key={path} path={path} content={content} />
        ))}
        {error !== undefined && <p class="problem">{messageOf(error)}</p>}
        {sources.length > LISTED && <p class="note">and {showNumber(sources.length - LISTED)} more</p>}
      </div>
    </Panel>
  );
}

function Source({ path, content }: { readonly path: string; readonly content: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code>{showText(path, 160)}</code>
      </summary>
      {isOpen && (
        <pre class="source">
          {highlight(content.slice(0, SHOWN)).map(({ kind, text }, index) =>
            kind === undefined ? (
              text
            ) : (
              <span key={index} class={kind}>
                {text}
              </span>
            ),
          )}
          {content.length > SHOWN && "\n…"}
        </pre>
      )}
    </details>
  );
}
