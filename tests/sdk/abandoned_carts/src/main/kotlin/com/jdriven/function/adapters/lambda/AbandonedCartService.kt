package com.jdriven.function.adapters.lambda

data class AbandonedCartData(
  val uid: String,
  val skus: Set<String>?,
  val customeruid: String?,
  val ttl: Long?,
)

class AbandonedCartService(private val client: MarketingSuiteClient = MarketingSuiteClient()) {
  fun processAbandonedCart(data: AbandonedCartData): MarketingSuiteClient.Result = client.send(data)
}
