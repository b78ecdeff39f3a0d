import type { TokenHolder, TokenInfo } from "../../chain/tokens.ts";
import { AccountLink } from "../../parts/links.tsx";
import { Sideways } from "../../parts/sideways.tsx";
import { TokenAmount } from "../../parts/token.tsx";

/** A table of holders, with their shares if amounts can be compared with a supply. */
export function HolderTable({
  address,
  facts: { standard, totalSupply },
  holders,
  order,
}: {
  readonly address: string;
  readonly facts: TokenInfo;
  readonly holders: readonly TokenHolder[];
  readonly order: string;
}) {
  const supply = standard === "ERC-20" && totalSupply !== null ? BigInt(totalSupply) : 0n;
  return (
    <Sideways>
      <table>
        <caption class="hidden">Holders of the token, {order}</caption>
        <thead>
          <tr>
            <th scope="col">Holder</th>
            <th scope="col" class="number">
              {standard === "ERC-721" ? "Token" : "Balance"}
            </th>
            {supply > 0n && (
              <th scope="col" class="number">
                Share
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {holders.map(({ holder, tokenId, balance }) => (
            <tr key={`${holder}.${tokenId}`}>
              <td>
                <AccountLink address={holder} />
              </td>
              <td class="number">
                <TokenAmount token={address} tokenId={tokenId} value={balance} />
              </td>
              {supply > 0n && <td class="number">{showShare(balance, supply)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Sideways>
  );
}

/** Share of the total supply, which the contract also reports, and may report wrongly. */
function showShare(balance: string | null, supply: bigint): string {
  if (balance === null) return "–";
  const share = (BigInt(balance) * 10_000n) / supply;
  if (share > 10_000n) return "over 100 %";
  return share === 0n ? "under 0.01 %" : `${Number(share) / 100} %`;
}
