import type { Loaded } from "../../chain/hooks.ts";
import { useKnownContract } from "../../chain/knownContracts.ts";
import type { CallFrame } from "../../chain/types.ts";
import { useDecoding } from "../../chain/useDecoding.ts";
import { showCoins, showNumber, showText } from "../../format.ts";
import { AccountLink } from "../../parts/links.tsx";
import { Problem } from "../../parts/notices.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Sideways } from "../../parts/sideways.tsx";

/** Most calls that are shown. */
const SHOWN = 400;

/** The calls within a transaction, as a tree; absent if it made none. */
export function CallTree({ traced: { value: frame, error } }: { readonly traced: Loaded<CallFrame> }) {
  if (error !== undefined)
    return (
      <Panel title="Internal calls">
        <Problem error={error} />
      </Panel>
    );
  if (frame?.calls === undefined || frame.calls.length === 0) return null;
  const count = countOf(frame) - 1;
  const { pruned } = prune(frame, { left: SHOWN });
  return (
    <Panel
      title="Internal calls"
      aside={count > SHOWN ? `the first ${SHOWN} of ${showNumber(count)}` : showNumber(count)}
    >
      <Sideways>
        <ul class="calls">
          <Frame frame={pruned} />
        </ul>
      </Sideways>
    </Panel>
  );
}

function countOf({ calls = [] }: CallFrame): number {
  return calls.reduce((sum, frame) => sum + countOf(frame), 1);
}

/** The first calls in their order. */
function prune(frame: CallFrame, budget: { left: number }): { readonly pruned: CallFrame } {
  const calls: CallFrame[] = [];
  for (const inner of frame.calls ?? []) {
    if (budget.left-- <= 0) break;
    calls.push(prune(inner, budget).pruned);
  }
  return { pruned: { ...frame, calls } };
}

function Frame({ frame }: { readonly frame: CallFrame }) {
  const { type, to, value, error, gasUsed, calls = [] } = frame;
  return (
    <li>
      <div class="call">
        <span class="badge plain">{type.toLowerCase()}</span>
        {to !== undefined && <AccountLink address={to} />}
        <CalledFunction frame={frame} />
        {value !== undefined && value !== "0x0" && <span>{showCoins(value)}</span>}
        <span class="note">{showNumber(Number(gasUsed))} gas</span>
        {error !== undefined && <span class="badge bad">{showText(error, 80)}</span>}
      </div>
      {calls.length > 0 && (
        <ul>
          {calls.map((inner, index) => (
            <Frame key={index} frame={inner} />
          ))}
        </ul>
      )}
    </li>
  );
}

function CalledFunction({ frame: { type, to, input } }: { readonly frame: CallFrame }) {
  const decoding = useDecoding();
  const known = useKnownContract(to);
  if (type.startsWith("CREATE") || input.length < 10) return null;
  const decoded = decoding?.decodeCall(input, known?.abi);
  return <code class="signature">{showText(decoded?.name ?? input.slice(0, 10), 60)}</code>;
}
