package com.jdriven.function.adapters.lambda

import com.amazonaws.services.lambda.runtime.Context
import com.amazonaws.services.lambda.runtime.RequestHandler
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent
import java.net.http.HttpResponse

class AbandonedCartHandler() : RequestHandler<DynamodbEvent, Void> {

  private val abandonedCartService: AbandonedCartService = AbandonedCartService()

  // Entrypoint for Lambda function call
  override fun handleRequest(dynamodbEvent: DynamodbEvent, context: Context): Void? {
    dynamodbEvent.records.filter { shouldHandle(it) }
      .forEach {
        val abandonedCartData = toAbandonedCartData(it)
        when (val result = abandonedCartService.processAbandonedCart(abandonedCartData)) {
          is MarketingSuiteClient.Result.Success -> logRequestOk(abandonedCartData)
          is MarketingSuiteClient.Result.Failure -> logRequestNotOk(result.response, abandonedCartData)
        }
      }
    return null
  }

  private fun shouldHandle(record: DynamodbEvent.DynamodbStreamRecord): Boolean {
    // Only handle DynamoDB TTL events. Redundant; filter_criteria on the eventsource in Terraform/AWS check this first & better.
    return (
      record.userIdentity?.principalId == "" ||
        record.userIdentity?.type == "Service"
      ) &&
      record.eventName == "REMOVE"
  }

  // Read DynamoDB record and turn into internal data object
  private fun toAbandonedCartData(record: DynamodbEvent.DynamodbStreamRecord): AbandonedCartData {
    return AbandonedCartData(
      uid = record.dynamodb.oldImage["uid"]?.s ?: "",
      skus = record.dynamodb.oldImage["productids"]?.ss?.toSet(),
      customeruid = record.dynamodb.oldImage["customerid"]?.s,
      ttl = record.dynamodb.oldImage["ttl"]?.n?.toLongOrNull(),
    )
  }

  private fun logRequestOk(data: AbandonedCartData) = println("sent abandoned cart of customer ${data.customeruid}")

  private fun logRequestNotOk(response: HttpResponse<String>, data: AbandonedCartData) =
    println("could not send abandoned cart of customer ${data.customeruid}: ${response.statusCode()} ${response.body()}")
}
