import type { NodeStatus } from "../../chain/nodeStatus.ts";
import { showNumber } from "../../format.ts";
import { AccountLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";

/** The connected peers, without their addresses, which are nobody's business here. */
export function Peers({ node: { peers, peerCount, maxPeers } }: { readonly node: NodeStatus }) {
  if (peers === null)
    return (
      <Panel title="Peers">
        <p class="muted">Peer-to-peer is off.</p>
      </Panel>
    );
  const count = Number(peerCount ?? 0);
  return (
    <Panel title="Peers" aside={`${showNumber(count)} of at most ${showNumber(Number(maxPeers))}`}>
      {peers.length === 0 && <p class="muted">None is connected.</p>}
      <ul class="peers">
        {peers.map(({ client, isInbound, validator }, index) => (
          <li key={index}>
            <bdi>{client}</bdi>
            <p class="accounts note">
              {isInbound ? "came to us" : "we went to it"}
              {validator !== null && <AccountLink address={validator} />}
            </p>
          </li>
        ))}
      </ul>
      {peers.length < count && <p class="note">and {showNumber(count - peers.length)} more</p>}
    </Panel>
  );
}
