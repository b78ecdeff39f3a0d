import { useState } from "preact/hooks";
import { authorityOf } from "../../chain/authorizations.ts";
import { call } from "../../chain/connection.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { Authorization } from "../../chain/types.ts";
import { useDecoding } from "../../chain/useDecoding.ts";
import { showNumber } from "../../format.ts";
import { AccountLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Sideways } from "../../parts/sideways.tsx";

/** Number of authorizations shown at first, and with each further click: the node recovers the signer of each. */
const SHOWN = 10;

interface AuthorizationsProps {
  readonly list: readonly Authorization[];
}

/** Lists the authorizations with which accounts let another's code run as theirs (EIP-7702); absent if there are none. */
export function Authorizations({ list }: AuthorizationsProps) {
  return list.length === 0 ? null : <AuthorizationTable list={list} />;
}

function AuthorizationTable({ list }: AuthorizationsProps) {
  const [shown, setShown] = useState(SHOWN);
  const chainId = useLoaded(() => call<string>("eth_chainId"), []);
  return (
    <Panel title="Authorizations" aside={showNumber(list.length)}>
      <p class="muted">
        Each lets an account run another’s code. The chain does not record which of them took effect: those
        that did are among the state changes.
      </p>
      <Sideways>
        <table>
          <caption class="hidden">Authorizations to run the code of another account, in their order</caption>
          <thead>
            <tr>
              <th scope="col">Signed by</th>
              <th scope="col">To run the code of</th>
              <th scope="col" class="number">
                At nonce
              </th>
              <th scope="col" class="number">
                On chain
              </th>
            </tr>
          </thead>
          <tbody>
            {list.slice(0, shown).map((authorization, index) => (
              <tr key={index}>
                <td>
                  <Authority authorization={authorization} />
                </td>
                <td>
                  <Delegate address={authorization.address} />
                </td>
                <td class="number">{showNumber(BigInt(authorization.nonce))}</td>
                <td class="number">
                  <ChainOf authorization={authorization} own={chainId.value} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Sideways>
      {shown < list.length && (
        <button type="button" class="button" onClick={() => setShown(shown + SHOWN)}>
          Show more
        </button>
      )}
    </Panel>
  );
}

function Authority({ authorization }: { readonly authorization: Authorization }) {
  const decoding = useDecoding();
  const hash = decoding?.authorizationHash(authorization);
  const found = useLoaded(
    async () => (hash === undefined ? null : authorityOf(authorization, hash)),
    [hash],
    hash !== undefined,
  );
  if (found.error !== undefined) return <span class="note">not known: {found.error.message}</span>;
  if (found.value === undefined) return <span class="note">…</span>;
  if (found.value === null) return <span class="badge bad">no valid signature</span>;
  return <AccountLink address={found.value} />;
}

const NOBODY = `0x${"0".repeat(40)}`;

function Delegate({ address }: { readonly address: string }) {
  return address === NOBODY ? (
    <span class="badge plain">nobody any more</span>
  ) : (
    <AccountLink address={address} />
  );
}

/** Shows the chain of an authorization; chain 0 means all chains. */
function ChainOf({
  authorization,
  own,
}: {
  readonly authorization: Authorization;
  readonly own: string | undefined;
}) {
  const chainId = BigInt(authorization.chainId);
  if (chainId === 0n) return <>any</>;
  const isOther = own !== undefined && BigInt(own) !== chainId;
  return (
    <>
      {isOther && <span class="badge warn">another</span>} {chainId.toString()}
    </>
  );
}
