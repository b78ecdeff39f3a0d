// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// Stakes of one token at a fixed simple rate a year, paid in the same token from a reserve. A stake is locked for a time
/// that begins anew whenever it grows; rewards may be claimed at any time. Who leaves early pays a tax into the reserve.
/// Stakes are never used for rewards: where the reserve is short, rewards wait, and stakes stay whole.
contract Staking is Ownable, ReentrancyGuard {
    using SafeERC20 for IERC20;

    struct Position {
        uint256 amount;
        /// Rewards up to `settledAt` that are not paid yet.
        uint256 owed;
        uint64 settledAt;
        uint64 unlocksAt;
    }

    uint256 public constant EMERGENCY_TAX_BPS = 2_500;
    uint256 private constant ALL_BPS = 10_000;
    uint256 private constant YEAR = 365 days;

    IERC20 public immutable token;
    uint256 public immutable yearlyRateBps;
    uint256 public immutable lockSeconds;

    uint256 public totalStaked;
    uint256 public reserve;
    mapping(address account => Position) public positions;

    event Staked(address indexed account, uint256 amount, uint256 unlocksAt);
    event Claimed(address indexed account, uint256 reward);
    event Withdrawn(address indexed account, uint256 amount);
    event EmergencyWithdrawn(address indexed account, uint256 amount, uint256 tax);
    event ReserveFunded(address indexed from, uint256 amount);

    error ZeroAmount();
    error StillLocked(uint256 unlocksAt);
    error NotLocked();
    error StakeTooSmall(uint256 asked, uint256 staked);
    error NothingToClaim();
    error ReserveEmpty(uint256 owed);

    constructor(IERC20 token_, uint256 yearlyRateBps_, uint256 lockSeconds_) Ownable(msg.sender) {
        (token, yearlyRateBps, lockSeconds) = (token_, yearlyRateBps_, lockSeconds_);
    }

    function stake(uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroAmount();
        Position storage position = _settled(msg.sender);
        position.amount += amount;
        position.unlocksAt = uint64(block.timestamp + lockSeconds);
        totalStaked += amount;
        emit Staked(msg.sender, amount, position.unlocksAt);
        token.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// Pays rewards as far as the reserve goes; the rest stays owed.
    function claim() external nonReentrant returns (uint256 reward) {
        Position storage position = _settled(msg.sender);
        if (position.owed == 0) revert NothingToClaim();
        reward = Math.min(position.owed, reserve);
        if (reward == 0) revert ReserveEmpty(position.owed);
        position.owed -= reward;
        reserve -= reward;
        emit Claimed(msg.sender, reward);
        token.safeTransfer(msg.sender, reward);
    }

    function withdraw(uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroAmount();
        Position storage position = _settled(msg.sender);
        if (block.timestamp < position.unlocksAt) revert StillLocked(position.unlocksAt);
        if (amount > position.amount) revert StakeTooSmall(amount, position.amount);
        position.amount -= amount;
        totalStaked -= amount;
        emit Withdrawn(msg.sender, amount);
        token.safeTransfer(msg.sender, amount);
    }

    /// Returns the whole stake before its time, less the tax, which rounds up. Rewards earned so far stay claimable.
    function emergencyWithdraw() external nonReentrant returns (uint256 paid) {
        Position storage position = _settled(msg.sender);
        if (block.timestamp >= position.unlocksAt) revert NotLocked();
        uint256 amount = position.amount;
        uint256 tax = Math.mulDiv(amount, EMERGENCY_TAX_BPS, ALL_BPS, Math.Rounding.Ceil);
        paid = amount - tax;
        position.amount = 0;
        position.unlocksAt = 0;
        totalStaked -= amount;
        reserve += tax;
        emit EmergencyWithdrawn(msg.sender, paid, tax);
        token.safeTransfer(msg.sender, paid);
    }

    function fundReserve(uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroAmount();
        reserve += amount;
        emit ReserveFunded(msg.sender, amount);
        token.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// Rewards of an account up to now.
    function earned(address account) public view returns (uint256) {
        Position storage position = positions[account];
        uint256 elapsed = block.timestamp - position.settledAt;
        return position.owed + Math.mulDiv(position.amount, yearlyRateBps * elapsed, ALL_BPS * YEAR);
    }

    function _settled(address account) private returns (Position storage position) {
        position = positions[account];
        position.owed = earned(account);
        position.settledAt = uint64(block.timestamp);
    }
}
