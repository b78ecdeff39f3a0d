import { useCoinSymbol } from "../chain/coin.ts";
import { showCoins } from "../format.ts";

/** An amount of the chain's coin, with its symbol. */
export function Coins({ wei }: { readonly wei: bigint | string }) {
  const symbol = useCoinSymbol();
  return (
    <>
      {showCoins(wei)} {symbol !== "" && <span class="note">{symbol}</span>}
    </>
  );
}
