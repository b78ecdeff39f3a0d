// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// Two tokens whose reserves keep their product: what a swap takes out never lowers it, and its fee raises it for those who
/// provide liquidity. Callers pay first and call then, in one transaction (see Router); shares are the pool's own token.
contract Pool is ERC20, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// Shares that stay in the pool for ever, so that the first provider cannot make one share worth too much to others.
    uint256 public constant MINIMUM_LIQUIDITY = 1000;
    /// In thousandths of what is paid in.
    uint256 public constant FEE_PERMILLE = 3;
    address private constant NOBODY = address(0xdEaD);

    IERC20 public immutable token0;
    IERC20 public immutable token1;
    uint112 private _reserve0;
    uint112 private _reserve1;

    event Minted(address indexed to, uint256 amount0, uint256 amount1, uint256 shares);
    event Burned(address indexed to, uint256 amount0, uint256 amount1, uint256 shares);
    event Swapped(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        address indexed to
    );
    event Synced(uint112 reserve0, uint112 reserve1);

    error ReserveOverflow();
    error NoShares();
    error NothingPaid();
    error NothingAsked();
    error ReserveExceeded(uint256 asked, uint256 reserve);
    error InvalidRecipient(address to);
    error ProductLowered();

    constructor(IERC20 token0_, IERC20 token1_) ERC20("Pool Share", "POOL") {
        (token0, token1) = (token0_, token1_);
    }

    function reserves() public view returns (uint256 reserve0, uint256 reserve1) {
        return (_reserve0, _reserve1);
    }

    /// Issues shares for what was paid in beyond the reserves.
    function mint(address to) external nonReentrant returns (uint256 shares) {
        (uint256 reserve0, uint256 reserve1) = reserves();
        (uint256 balance0, uint256 balance1) = _balances();
        (uint256 amount0, uint256 amount1) = (balance0 - reserve0, balance1 - reserve1);
        uint256 supply = totalSupply();
        if (supply == 0) {
            uint256 root = Math.sqrt(amount0 * amount1);
            if (root <= MINIMUM_LIQUIDITY) revert NoShares();
            shares = root - MINIMUM_LIQUIDITY;
            _mint(NOBODY, MINIMUM_LIQUIDITY);
        } else {
            shares = Math.min(Math.mulDiv(amount0, supply, reserve0), Math.mulDiv(amount1, supply, reserve1));
        }
        if (shares == 0) revert NoShares();
        _mint(to, shares);
        _sync(balance0, balance1);
        emit Minted(to, amount0, amount1, shares);
    }

    /// Pays out the part of both reserves for the shares that were sent here.
    function burn(address to) external nonReentrant returns (uint256 amount0, uint256 amount1) {
        (uint256 balance0, uint256 balance1) = _balances();
        uint256 shares = balanceOf(address(this));
        uint256 supply = totalSupply();
        if (shares == 0) revert NoShares();
        amount0 = Math.mulDiv(balance0, shares, supply);
        amount1 = Math.mulDiv(balance1, shares, supply);
        if (amount0 == 0 || amount1 == 0) revert NoShares();
        _burn(address(this), shares);
        _sync(balance0 - amount0, balance1 - amount1);
        emit Burned(to, amount0, amount1, shares);
        token0.safeTransfer(to, amount0);
        token1.safeTransfer(to, amount1);
    }

    /// Pays out what is asked, if what was paid in beyond the reserves, less the fee, keeps their product.
    function swap(uint256 amount0Out, uint256 amount1Out, address to) external nonReentrant {
        if (amount0Out == 0 && amount1Out == 0) revert NothingAsked();
        if (to == address(token0) || to == address(token1)) revert InvalidRecipient(to);
        (uint256 reserve0, uint256 reserve1) = reserves();
        if (amount0Out >= reserve0) revert ReserveExceeded(amount0Out, reserve0);
        if (amount1Out >= reserve1) revert ReserveExceeded(amount1Out, reserve1);
        _account(reserve0, reserve1, amount0Out, amount1Out, to);
        if (amount0Out > 0) token0.safeTransfer(to, amount0Out);
        if (amount1Out > 0) token1.safeTransfer(to, amount1Out);
    }

    /// Takes into the books what was paid in and what goes out.
    function _account(uint256 reserve0, uint256 reserve1, uint256 amount0Out, uint256 amount1Out, address to) private {
        (uint256 balance0, uint256 balance1) = _balances();
        (uint256 amount0In, uint256 amount1In) = (balance0 - reserve0, balance1 - reserve1);
        if (amount0In == 0 && amount1In == 0) revert NothingPaid();
        (balance0, balance1) = (balance0 - amount0Out, balance1 - amount1Out);
        uint256 product = (balance0 * 1000 - amount0In * FEE_PERMILLE) * (balance1 * 1000 - amount1In * FEE_PERMILLE);
        if (product < reserve0 * reserve1 * 1000 ** 2) revert ProductLowered();
        _sync(balance0, balance1);
        emit Swapped(msg.sender, amount0In, amount1In, amount0Out, amount1Out, to);
    }

    function _balances() private view returns (uint256, uint256) {
        return (token0.balanceOf(address(this)), token1.balanceOf(address(this)));
    }

    function _sync(uint256 balance0, uint256 balance1) private {
        if (balance0 > type(uint112).max || balance1 > type(uint112).max) revert ReserveOverflow();
        // Both fit, as was checked.
        (_reserve0, _reserve1) = (uint112(balance0), uint112(balance1));
        emit Synced(_reserve0, _reserve1);
    }
}
